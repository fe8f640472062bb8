import type { Plugin } from 'vite'
import { routes, type Route } from '../../../packages/contract/src/index.ts'

const PREFIX = 'virtual:routes/'

/**
 * Gives the browser of each call only its method and path, and what an administrator's role has to allow. The schemas of the contract stay on the build machine: their
 * types are what the client needs, and the validation library would be a tenth of the first load.
 */
export function contractRoutes(): Plugin {
  return {
    name: 'contract-routes',
    resolveId: id => (id.startsWith(PREFIX) ? `\0${id}` : undefined),
    load(id) {
      if (!id.startsWith(`\0${PREFIX}`)) return
      const domain = id.slice(PREFIX.length + 1)
      const calls = Object.entries(routes).find(([name]) => name === domain)?.[1]
      if (!calls) throw new Error(`The contract has no domain ${domain}`)
      const slim = Object.entries(calls as Record<string, Route>).map(([name, { method, path, permission }]) => [
        name,
        { method, path, permission }
      ])
      return `export default ${JSON.stringify(Object.fromEntries(slim))}`
    }
  }
}
