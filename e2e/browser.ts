import { execFile } from 'node:child_process'
import { chmod, lstat, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { brotliDecompress } from 'node:zlib'

const run = promisify(execFile)
const unpackBrotli = promisify(brotliDecompress)

/** Options for Playwright's `launch` with the packaged browser. */
export type BrowserLaunch = {
  executablePath: string
  args: string[]
  env: Record<string, string>
}

// No sandbox: tests often run as root or in containers, where Chromium cannot set it up, and visit only this
// repository's pages. External host names do not resolve, so that no test depends on the network.
const args = [
  '--no-sandbox',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-domain-reliability',
  '--no-pings',
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE *.localhost, EXCLUDE 127.*'
]

/**
 * Finds the browser, and unpacks it once into a versioned temporary folder. CHROMIUM_PATH selects another one.
 * @throws if the browser does not run on this machine; the message says what to set
 */
export async function findBrowser(): Promise<BrowserLaunch> {
  const env = Object.fromEntries(Object.entries(process.env).filter(isSet))
  const chosen = process.env['CHROMIUM_PATH']
  if (chosen) return { executablePath: chosen, args, env }

  const folder = await unpacked()
  const executablePath = join(folder, 'chromium')
  env['FONTCONFIG_FILE'] ??= join(folder, 'fonts.conf')
  if (await starts(executablePath, env)) return { executablePath, args, env }
  // A slim machine lacks some libraries, which the package includes.
  env['LD_LIBRARY_PATH'] = [join(folder, 'lib'), env['LD_LIBRARY_PATH']].filter(Boolean).join(':')
  if (await starts(executablePath, env)) return { executablePath, args, env }
  throw new Error(
    `The packaged Chromium does not run on this machine (${process.platform}-${process.arch}). ` +
      'Set CHROMIUM_PATH to an installed Chromium or Chrome.'
  )
}

const isSet = (entry: [string, string | undefined]): entry is [string, string] => entry[1] !== undefined

function starts(executablePath: string, env: Record<string, string>): Promise<boolean> {
  return run(executablePath, ['--version', '--no-sandbox'], { env, timeout: 30_000 }).then(
    () => true,
    () => false
  )
}

async function unpacked(): Promise<string> {
  const bin = join(dirname(dirname(createRequire(import.meta.url).resolve('@sparticuz/chromium'))), 'bin')
  const { version } = JSON.parse(await readFile(join(bin, '..', 'package.json'), 'utf8')) as { version: string }
  const uid = process.getuid?.() ?? 0
  // A full test run has its own temporary folder, which is deleted afterwards, so use a permanent one.
  const place = process.env['NETLET_BROWSER_DIR'] ?? tmpdir()
  const folder = join(place, `netlet-chromium-${version}-${uid}`)
  if (await sound(folder, uid)) return folder

  const temporary = await mkdtemp(`${folder}.`)
  try {
    await unpack(bin, temporary, folder)
    // Another process may have finished first. Replace anything that is not a valid folder.
    await rename(temporary, folder).catch(async () => {
      if (await sound(folder, uid)) return
      await rename(folder, `${temporary}.old`)
      await rename(temporary, folder)
      await rm(`${temporary}.old`, { recursive: true, force: true })
    })
  } finally {
    await rm(temporary, { recursive: true, force: true })
  }
  return folder
}

/** Anyone can write to the temporary folder and clean-ups delete from it: accept only our own, complete folder. */
async function sound(folder: string, uid: number): Promise<boolean> {
  const info = await lstat(folder).catch(() => undefined)
  if (!info?.isDirectory() || info.uid !== uid || (info.mode & 0o022) !== 0) return false
  const parts = ['chromium', 'fonts.conf', 'fonts/Open_Sans/OpenSans-Regular.ttf', 'lib/libnss3.so', 'libGLESv2.so']
  const found = await Promise.all(parts.map(part => lstat(join(folder, part)).catch(() => undefined)))
  return found.every(part => part !== undefined && part.size > 0)
}

/** @param home the folder's final path */
async function unpack(bin: string, folder: string, home: string): Promise<void> {
  await writeFile(join(folder, 'chromium'), await unpackBrotli(await readFile(join(bin, 'chromium.br'))))
  await chmod(join(folder, 'chromium'), 0o755)
  for (const archive of ['al2023', 'fonts', 'swiftshader']) {
    const tar = join(folder, `${archive}.tar`)
    await writeFile(tar, await unpackBrotli(await readFile(join(bin, `${archive}.tar.br`))))
    await run('tar', ['-xf', tar, '-C', folder, '--no-same-owner'])
    await rm(tar)
  }
  await mkdir(join(folder, 'cache'))
  // The machine's own fonts, and the package's, because a slim machine has none.
  await writeFile(
    join(folder, 'fonts.conf'),
    `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <include ignore_missing="yes">/etc/fonts/fonts.conf</include>
  <dir>/usr/share/fonts</dir>
  <dir>${join(home, 'fonts')}</dir>
  <cachedir>${join(home, 'cache')}</cachedir>
</fontconfig>
`
  )
}
