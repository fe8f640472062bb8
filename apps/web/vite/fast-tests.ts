import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Plugin } from 'vitest/config'

const library = join(import.meta.dirname, '../../../node_modules/@tabler/icons-react/dist/esm')

/** The file of each icon by its names. */
function filesOfIcons(): Map<string, string> {
  const index = readFileSync(join(library, 'tabler-icons-react.mjs'), 'utf8')
  return new Map(
    [...index.matchAll(/^export \{(.*)\} from '\.\/(icons\/.*)'/gm)].flatMap(([, names = '', file = '']) =>
      [...names.matchAll(/default as (\w+)/g)].map(([, name = '']): [string, string] => [name, join(library, file)])
    )
  )
}

/** Imports each icon from its own file: the index of the library loads thousands of them, which takes two seconds. */
export function iconFiles(): Plugin {
  let files: Map<string, string> | undefined
  const importOf = (name: string): string => {
    files ??= filesOfIcons()
    const file = files.get(name)
    if (!file) throw new Error(`The library has no icon ${name}`)
    return `import ${name} from '${file.replaceAll('\\', '/')}'`
  }
  return {
    name: 'icon-files',
    enforce: 'pre',
    transform: code =>
      code.replace(/^import \{([^}]*)\} from '@tabler\/icons-react'$/gm, (_, names: string) =>
        [...names.matchAll(/(?<!type )\bIcon\w+/g)].map(([name]) => importOf(name)).join(';')
      )
  }
}

/** Keeps out of the cache of transformed files what is generated from other files, and starts it again when a plugin changes. */
export function cacheKeys(): Plugin {
  const plugins = readFileSync(import.meta.filename, 'utf8')
  return {
    name: 'cache-keys',
    configureVitest({ defineCacheKeyGenerator }) {
      defineCacheKeyGenerator(({ id }) => (id.startsWith('\0') ? false : plugins))
    }
  }
}
