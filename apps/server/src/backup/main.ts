// npm run backup and npm run restore, see docs/OPERATIONS.md. Each ends with one line of figures, or one that says what
// to do.
import { parseArgs } from 'node:util'
import { StartupError } from '../infra/db/migrate.ts'
import { backUp, restore } from './commands.ts'

const USAGE = {
  backup: 'npm run backup -- [--to FOLDER] [--keep NUMBER]',
  restore:
    'npm run restore -- [FILE] [--from FOLDER] [--into DATABASE] [--secrets FILE] [--rehearse [--port PORT]], or --mark TIME'
}

const interrupted = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => interrupted.abort())

const text = { type: 'string' } as const

function argumentsOf(args: string[]) {
  const options = {
    to: text,
    keep: text,
    from: text,
    into: text,
    secrets: text,
    port: text,
    mark: text,
    rehearse: { type: 'boolean' }
  } as const
  try {
    return parseArgs({ args, options, allowPositionals: true })
  } catch {
    return null
  }
}

async function run(): Promise<void> {
  const [what, ...rest] = process.argv.slice(2)
  const given = argumentsOf(rest)
  const surroundings = { env: process.env, say: (line: string) => console.log(line), signal: interrupted.signal }
  const names = Object.keys(given?.values ?? {})
  const allows = (...known: string[]) => names.every(name => known.includes(name))
  if (what === 'backup' && given?.positionals.length === 0 && allows('to', 'keep'))
    return backUp(given.values, surroundings)
  const isPlain = given && given.positionals.length === 0
  if (what === 'restore' && isPlain && allows('mark') && given.values.mark !== undefined)
    return restore({ marked: given.values.mark }, surroundings)
  if (what === 'restore' && isPlain && given.values.rehearse && allows('rehearse', 'port'))
    return restore(given.values, surroundings)
  if (what === 'restore' && given && given.positionals.length < 2 && allows('from', 'into', 'secrets', 'rehearse'))
    return restore({ ...given.values, file: given.positionals[0] }, surroundings)
  throw new StartupError(`Use: ${what === 'backup' ? USAGE.backup : USAGE.restore}`)
}

run().then(
  () => process.exit(0),
  (error: unknown) => {
    // A person solves a problem with one line; everything else is a fault and needs its stack.
    console.error(error instanceof StartupError ? error.message : error)
    process.exit(1)
  }
)
