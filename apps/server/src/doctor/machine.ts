import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createServer } from 'node:net'
import { promisify } from 'node:util'
import { fileURLToPath } from 'node:url'
import type { Config } from '../infra/config.ts'
import { reasonOf } from '../infra/text.ts'
import { fine, note, wrong, type Finding } from './finding.ts'

const run = promisify(execFile)
const webApp = fileURLToPath(new URL('../../../web/dist/index.html', import.meta.url))

/** A process has a few for files and the database, and two for each visitor behind a reverse proxy. */
const FEW_HANDLES = 4096
const ANSWER_MS = 5000

/** What this machine has, and what listens on it. */
export async function checkMachine(config: Config): Promise<Finding[]> {
  return [
    checkWebApp(),
    checkHandles(),
    await checkClock(),
    await checkPort('PORT', config.host, config.port),
    ...(config.workerPort === null
      ? [
          note(
            'WORKER_PORT is not set. Workers serve health and metrics only if their unit sets it, as deploy/systemd does.'
          )
        ]
      : [await checkPort('WORKER_PORT', config.workerHost, config.workerPort)])
  ]
}

const checkWebApp = (): Finding =>
  existsSync(webApp) ? fine('The web app is built.') : wrong('The web app is not built. Run npm ci && npm run build.')

function checkHandles(): Finding {
  const report = process.report.getReport() as { userLimits?: { open_files?: { soft?: number | 'unlimited' } } }
  const limit = report.userLimits?.open_files?.soft ?? 'unlimited'
  if (limit === 'unlimited' || limit >= FEW_HANDLES) return fine(`A process may open ${limit} files.`)
  return note(
    `A process may open ${limit} files only. The units of deploy/systemd allow 65536; elsewhere set ulimit -n.`
  )
}

/** Agents, sign-in codes and the platform's signatures compare times. */
async function checkClock(): Promise<Finding> {
  try {
    const { stdout } = await run('timedatectl', ['show', '--property=NTPSynchronized', '--value'], {
      timeout: ANSWER_MS
    })
    if (stdout.trim() === 'yes') return fine("This machine's clock is synchronised.")
    return wrong("This machine's clock is not synchronised. Install systemd-timesyncd or chrony.")
  } catch {
    return note('Could not check whether the clock is synchronised: timedatectl did not respond.')
  }
}

async function checkPort(name: string, host: string, port: number): Promise<Finding> {
  const error = await new Promise<NodeJS.ErrnoException | null>(resolve => {
    const server = createServer()
    server.once('error', resolve)
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(null)))
  })
  if (!error) return fine(`${name}: ${host}:${port} is free.`)
  if (error.code !== 'EADDRINUSE') return wrong(`${name}: ${host}:${port} cannot be used: ${error.message}.`)
  const isOurs = await answers(`http://${host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host}:${port}/healthz`)
  return isOurs === null
    ? fine(`${name}: a process answers on ${host}:${port}.`)
    : wrong(`${name}: another program uses ${host}:${port}. Stop it, or set ${name} to a free port.`)
}

/** Null if it answers as the shop does; otherwise why not. */
async function answers(url: string): Promise<string | null> {
  try {
    const reply = await fetch(url, { signal: AbortSignal.timeout(ANSWER_MS), redirect: 'manual' })
    const body = (await reply.text()).slice(0, 100)
    return reply.ok && body.includes('"ok"') ? null : `it answers with ${reply.status}`
  } catch (error) {
    return reasonOf(error instanceof Error && error.cause ? error.cause : error)
  }
}

/** The address that browsers use, and the reverse proxy behind it. */
export async function checkPublicUrl({ publicUrl, trustProxy, demo }: Config): Promise<Finding[]> {
  if (demo) return []
  const why = await answers(`${publicUrl}/healthz`)
  return [
    fine(`PUBLIC_URL is ${publicUrl}.`),
    ...(publicUrl.startsWith('https:') && trustProxy === false
      ? [wrong('TRUST_PROXY is not set, so all visitors look like your reverse proxy. Set it to its address.')]
      : []),
    why === null
      ? fine('The shop responds there.')
      : note(`The shop does not respond there yet (${why}). When it runs, check DNS, certificate and reverse proxy.`)
  ]
}
