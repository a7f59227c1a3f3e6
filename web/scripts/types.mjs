// JSON Schemas (written by `python -m stack.schemas web/src/generated/schemas`) → TypeScript.
// One file a schema; every definition becomes an interface of its own name.
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { compile } from 'json-schema-to-typescript'

const here = new URL('../src/generated/', import.meta.url)
const schemas = new URL('schemas/', here)

const files = await readdir(schemas).catch(() => [])
const names = files.filter((file) => file.endsWith('.json')).map((file) => file.slice(0, -5))
if (names.length === 0) {
  console.error('No schemas. Write them first: python -m stack.schemas web/src/generated/schemas')
  process.exit(1)
}
for (const name of names) {
  const schema = JSON.parse(await readFile(new URL(`${name}.json`, schemas), 'utf8'))
  // Titles would name types twice (Hello, Hello1): the definitions' own names are enough.
  const defs = Object.fromEntries(
    Object.entries(schema.$defs ?? {}).map(([key, def]) => [key, untitled(def)]),
  )
  const source = await compile({ $defs: defs, type: 'object' }, '__unused', {
    additionalProperties: false,
    bannerComment: `/* Generated from ${name}.json by scripts/types.mjs; not kept in git. */`,
    declareExternallyReferenced: true,
    format: false,
    unreachableDefinitions: true,
  })
  await writeFile(new URL(`${name}.ts`, here), source.replace(/export interface __?[uU]nused \{[^}]*\}\n?/, ''))
}

function untitled(node) {
  if (Array.isArray(node)) return node.map(untitled)
  if (node === null || typeof node !== 'object') return node
  const copy = {}
  for (const [key, value] of Object.entries(node)) {
    if (key === 'title' && typeof value === 'string') continue
    copy[key] = untitled(value)
  }
  return copy
}
