import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'
import { contractRoutes } from './vite/contract-routes.ts'

/** Puts the landing page's first words into index.html, in each language, so that they are painted before any code has come. */
function firstWords(): Plugin {
  return {
    name: 'first-words',
    async transformIndexHtml(html) {
      const lists = new Map<string, Record<string, string>>()
      for (const language of ['en', 'zh-CN']) {
        const text = await readFile(join(import.meta.dirname, `src/i18n/${language}.json`), 'utf8')
        lists.set(language, JSON.parse(text) as Record<string, string>)
      }
      return html.replace(/<div [^>]*lang="([\w-]+)"[^]*?hero-note[^]*?<\/p>/g, (part, language: string) =>
        part.replace(/\{(landing\.\w+)\}/g, (_, key: string) => {
          const word = lists.get(language)?.[key]
          if (!word) throw new Error(`${language}.json has no ${key}`)
          return word.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
        })
      )
    }
  }
}

/** The file of the font that every page is set in. The mono comes when a page has something in it. */
const FONT = 'geist-latin-wght-normal.woff2'

/** Asks for the font with the page, under its hashed name: else it would wait until the style sheet has named it. */
function preloadFont(): Plugin {
  return {
    name: 'preload-font',
    apply: 'build',
    transformIndexHtml(_html, { bundle }) {
      const font = Object.values(bundle ?? {}).find(file => file.type === 'asset' && file.names.includes(FONT))
      if (!font) throw new Error(`no style sheet has ${FONT}`)
      const attrs = { rel: 'preload', as: 'font', type: 'font/woff2', crossorigin: '', href: `/${font.fileName}` }
      return [{ tag: 'link', attrs, injectTo: 'head' }]
    }
  }
}

/** Colours of the library's palette that nothing here uses. */
const UNUSED = /--mantine-color-(?:cyan|grape|indigo|lime|orange|pink|violet)-[\w-]+:[^;}]*;?/g

/** Leaves the variables of unused colours out: each visitor's first load would have them. */
function withoutUnusedColors(): Plugin {
  return {
    name: 'without-unused-colors',
    enforce: 'pre',
    transform: (code, id) => (id.includes('/default-css-variables.layer.css') ? code.replace(UNUSED, '') : undefined)
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
    async writeBundle() {
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

/** Calls that only signed-in people's pages know, all of them together: each chunk is a request, and its name a part of the first load. */
const routes = { name: 'routes', test: /virtual:routes\/(bulk|fleet|home|inventory|payments)$/ }

/** What the first page needs, in one file: that compresses to 8 % less than the thirty parts that it shares with other pages. */
const first = { name: 'first', tags: ['$initial' as const] }

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react(), contractRoutes(), withoutUnusedColors(), firstWords(), preloadFont(), precompress()],
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    target: 'es2022',
    cssCodeSplit: true,
    reportCompressedSize: false,
    rolldownOptions: { output: { codeSplitting: { groups: [first, routes] } } }
  }
})
