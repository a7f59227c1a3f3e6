// JSON Schemas (written by `python -m stack.schemas web/src/generated/schemas`) → TypeScript.
// One file a schema; every definition becomes an interface of its own name.
import { readFile, writeFile } from 'node:fs/promises'
import { compile } from 'json-schema-to-typescript'

const NAMES = ['client_in', 'client_out', 'snatch_solitaire']
const here = new URL('../src/generated/', import.meta.url)

for (const name of NAMES) {
  const from = new URL(`schemas/${name}.json`, here)
  let text
  try {
    text = await readFile(from, 'utf8')
  } catch {
    console.error(`No ${name}.json. Write the schemas first: python -m stack.schemas web/src/generated/schemas`)
    process.exit(1)
  }
  const schema = JSON.parse(text)
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
