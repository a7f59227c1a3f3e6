// What the client's scripts call was in every browser two years ago. Syntax is the build's affair, `lib` in
// web/tsconfig.json holds the language's own methods.
import baseline from 'eslint-plugin-baseline-js'
import svelte from 'svelte-eslint-parser'
import typescript from '@typescript-eslint/parser'

const YEARS = 2

/** Asked for before it is used, and something else is there where it is missing; or in all of them by the part we use. */
const ASKED_FOR = [
  'vibration', // nothing: a sound says the same
  'share', // the link to copy, and the QR code
  'fullscreen', // the TV in its window
  'screen-wake-lock', // the screen dims as it is set to
  'media-source', // `srcObject` is counted with it, which all have for streams
]

const use = { preset: 'type-aware' }
const rules = {
  'baseline-js/use-baseline': [
    'error',
    {
      available: new Date().getFullYear() - YEARS,
      includeWebApis: use,
      includeJsBuiltins: use,
      ignoreFeatures: ASKED_FOR,
    },
  ],
}
const plugins = { 'baseline-js': baseline }
const types = { projectService: true, extraFileExtensions: ['.svelte'] }

export default [
  {
    files: ['src/**/*.ts'],
    ignores: ['src/**/*.test.ts'],
    plugins,
    rules,
    languageOptions: { parser: typescript, parserOptions: types },
  },
  {
    files: ['src/**/*.svelte'],
    plugins,
    rules,
    languageOptions: { parser: svelte, parserOptions: { parser: typescript, ...types } },
  },
]
