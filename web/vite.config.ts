import { svelte } from '@sveltejs/vite-plugin-svelte'
import { createHash } from 'node:crypto'
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { defineConfig } from 'vitest/config'
import type { Plugin } from 'vite'

const gateway = `http://127.0.0.1:${process.env['SNATCH_PORT'] ?? '8080'}`
const watch = `http://127.0.0.1:${process.env['SNATCH_WATCH_PORT'] ?? '8081'}`

/** The gateway serves the JSON Schemas as files beside the pages. */
function schemas(): Plugin {
  const from = 'src/generated/schemas'
  return {
    name: 'snatch-schemas',
    apply: 'build',
    closeBundle() {
      if (!existsSync(from)) return
      mkdirSync('dist/schemas', { recursive: true })
      for (const file of readdirSync(from)) copyFileSync(`${from}/${file}`, `dist/schemas/${file}`)
    },
  }
}

/** Scripts and styles packed once, here, and not by the servers at each request. */
function packed(): Plugin {
  return {
    name: 'snatch-packed',
    apply: 'build',
    writeBundle({ dir }, bundle) {
      for (const name of Object.keys(bundle)) {
        if (!/\.(js|css)$/.test(name)) continue
        const plain = readFileSync(`${dir}/${name}`)
        writeFileSync(`${dir}/${name}.br`, brotliCompressSync(plain))
        writeFileSync(`${dir}/${name}.gz`, gzipSync(plain, { level: 9 }))
      }
    },
  }
}

/** Tells the service worker what the offline page is made of. */
function shell(): Plugin {
  return {
    name: 'snatch-shell',
    apply: 'build',
    enforce: 'post',
    generateBundle(_, bundle) {
      const chunks = Object.values(bundle).filter((file) => file.type === 'chunk')
      const named = (name: string) => {
        const chunk = chunks.find((c) => c.isEntry && c.name === name)
        if (!chunk) throw new Error(`no entry ${name}`)
        return chunk
      }
      const files = new Set<string>(['offline.html'])
      const take = (chunk: (typeof chunks)[number]): void => {
        if (files.has(chunk.fileName)) return
        files.add(chunk.fileName)
        for (const style of chunk.viteMetadata?.importedCss ?? []) files.add(style)
        for (const other of chunks) if (chunk.imports.includes(other.fileName)) take(other)
      }
      take(named('offline'))
      const hash = createHash('sha256')
      for (const name of files) {
        const file = bundle[name]
        if (!file) throw new Error(`no ${name} in the bundle`)
        hash.update(file.type === 'asset' ? file.source : file.code)
      }
      const told = JSON.stringify({ hash: hash.digest('hex').slice(0, 12), files: [...files].map((name) => `/${name}`) })
      const worker = named('sw')
      worker.code = worker.code.replace('__SHELL__', () => told)
    },
  }
}

export default defineConfig({
  plugins: [svelte(), schemas(), shell(), packed()],
  build: {
    target: 'es2022',
    modulePreload: { polyfill: false },
    rolldownOptions: {
      input: { index: 'index.html', watch: 'watch.html', offline: 'offline.html', sw: 'src/worker/sw.ts' },
      // A service worker is found anew at its own address, so that one bears no hash.
      output: { entryFileNames: ({ name }) => (name === 'sw' ? 'sw.js' : 'assets/[name]-[hash].js') },
    },
  },
  resolve: process.env['VITEST'] ? { conditions: ['browser'] } : {},
  server: {
    host: '127.0.0.1',
    proxy: {
      '/api': gateway,
      '/qr': gateway,
      '/config.json': gateway,
      '/ws': { target: gateway, ws: true },
      '/tv': { target: watch, ws: true },
    },
  },
  test: { include: ['src/**/*.test.ts'], environment: 'node', css: { include: [/tokens\.css/] } },
})
