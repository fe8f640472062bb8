// Prepares a fresh clone: installs the packages and the Node 24 that the product runs on. Plain JavaScript, because the
// host's own Node (20 or later) runs it.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('..', import.meta.url))

// Node keeps compiled code for the next start, which takes half as long then. Where it may not write, it keeps none.
process.env['NODE_COMPILE_CACHE'] ??= join(root, 'node_modules/.cache/netlet-code')

const packagesIn = file => JSON.parse(readFileSync(join(root, file), 'utf8')).packages

/**
 * Are the locked packages installed? npm lists what it installed when it is done, so an interrupted install has no list.
 * @param {boolean} all also those for development, which a production install may leave out
 */
function isInstalled(all) {
  try {
    const found = packagesIn('node_modules/.package-lock.json')
    return Object.entries(packagesIn('package-lock.json')).every(
      ([path, { version, dev, devOptional, optional, peer, link }]) =>
        !path.includes('node_modules/') ||
        link ||
        optional ||
        peer ||
        (!all && (dev || devOptional)) ||
        found[path]?.version === version
    )
  } catch {
    return false
  }
}

/** Ends the process with one line if the locked packages are not installed. A service installs none by itself. */
export function requireInstalled() {
  if (isInstalled(false)) return
  console.error('The packages of package-lock.json are not installed. Stop the services and run: npm ci')
  process.exit(1)
}

/** Installs the locked packages if the installed ones differ. Ends the process on failure. */
export function install() {
  if (isInstalled(true)) return
  console.log('Installing packages (first start, or the lockfile changed)…')
  const { NODE_ENV: _, npm_config_omit: __, ...env } = process.env
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm'
  const done = spawnSync(npm, ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: root,
    env,
    stdio: 'inherit',
    shell: process.platform === 'win32'
  })
  if (done.status !== 0) {
    console.error('npm ci failed. Check the connection to your package registry, then run the same command again.')
    process.exit(1)
  }
}

/**
 * Prefers the packaged version even if the host's is newer, because it is the tested one.
 * @returns {string} the Node 24 binary
 */
export function node24() {
  const name = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`
  const file = join(root, 'node_modules', name, 'bin', process.platform === 'win32' ? 'node.exe' : 'node')
  if (existsSync(file)) return file
  if (Number(process.versions.node.split('.')[0]) >= 24) return process.execPath
  console.error(`No Node 24 for ${process.platform}-${process.arch} among the packages. Install Node 24 and run again.`)
  process.exit(1)
}
