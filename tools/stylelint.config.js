// What the client's styles say was known to every browser two years ago; what stands in `@supports` may be newer.
const YEARS = 2
const ANY = ['/./']

/** Said in more than one way, or nothing is lost where it isn't known. */
const HARMLESS = {
  'user-select': ANY, // Safari wants its prefix: both are written
  'text-size-adjust': ANY, // the same; others don't inflate text
  'overscroll-behavior': ANY, // the table can't scroll: it spares a bounce
}

export default {
  plugins: ['stylelint-plugin-use-baseline'],
  rules: { 'plugin/use-baseline': [true, { available: new Date().getFullYear() - YEARS, ignoreProperties: HARMLESS }] },
  overrides: [{ files: ['**/*.svelte'], customSyntax: 'postcss-html' }],
}
