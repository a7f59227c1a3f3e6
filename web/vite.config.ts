import { svelte } from '@sveltejs/vite-plugin-svelte'
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

export default defineConfig({
  plugins: [svelte(), schemas(), packed()],
  build: {
    target: 'es2022',
    modulePreload: { polyfill: false },
    rolldownOptions: { input: { index: 'index.html', watch: 'watch.html' } },
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
  test: { include: ['src/**/*.test.ts'], environment: 'node' },
})
