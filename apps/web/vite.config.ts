import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'
import { routes } from '../../packages/contract/src/index.ts'

const PREFIX = 'virtual:routes/'

/**
 * Gives the browser of each call only its method and path. The schemas of the contract stay on the build machine: their
 * types are what the client needs, and the validation library would be a tenth of the first load.
 */
function contractRoutes(): Plugin {
  return {
    name: 'contract-routes',
    resolveId: id => (id.startsWith(PREFIX) ? `\0${id}` : undefined),
    load(id) {
      if (!id.startsWith(`\0${PREFIX}`)) return
      const domain = id.slice(PREFIX.length + 1)
      const calls = Object.entries(routes).find(([name]) => name === domain)?.[1]
      if (!calls) throw new Error(`The contract has no domain ${domain}`)
      const slim = Object.entries(calls).map(([name, { method, path }]) => [name, { method, path }])
      return `export default ${JSON.stringify(Object.fromEntries(slim))}`
    }
  }
}

/** Puts the landing page's first words into index.html, so that they are painted before any code has come. */
function firstWords(): Plugin {
  return {
    name: 'first-words',
    async transformIndexHtml(html) {
      const text = await readFile(join(import.meta.dirname, 'src/i18n/en.json'), 'utf8')
      const words = JSON.parse(text) as Record<string, string>
      return html.replace(/\{(landing\.\w+)\}/g, (_, key: string) => {
        const word = words[key]
        if (!word) throw new Error(`en.json has no ${key}`)
        return word.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
      })
    }
  }
}

const compressors = {
  '.br': (text: Buffer) => promisify(brotliCompress)(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }),
  '.gz': (text: Buffer) => promisify(gzip)(text, { level: 9 })
}

/** Writes each text file's compressed forms beside it once, so that no server compresses it again for every visitor. */
function precompress(): Plugin {
  let folder = ''
  return {
    name: 'precompress',
    apply: 'build',
    configResolved: config => {
      folder = join(config.root, config.build.outDir)
    },
    async closeBundle() {
      const names = await readdir(folder, { recursive: true })
      const texts = names.filter(name => /\.(js|css|html|svg|json|txt)$/.test(name))
      await Promise.all(
        texts.map(async name => {
          const text = await readFile(join(folder, name))
          if (text.length < 1024) return
          for (const [ending, compress] of Object.entries(compressors))
            await writeFile(join(folder, name + ending), await compress(text))
        })
      )
    }
  }
}

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react(), contractRoutes(), firstWords(), precompress()],
  build: { outDir: 'dist', emptyOutDir: true, target: 'es2022', cssCodeSplit: true, reportCompressedSize: false }
})
