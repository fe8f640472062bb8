import { type DestinationStream, type Level, type Logger, pino } from 'pino'

export type Log = Logger

/** Fields that could bring a secret into a log line. */
const SECRET_PATHS = [
  'password',
  'new_password',
  'old_password',
  'token',
  'authorization',
  'cookie',
  'apiSecret',
  'accessToken'
]

/**
 * @param level lowest level for `main`; `silent` turns off `beside` too
 * @param beside gets every line from info on, even if `level` is higher
 * @param main standard output by default
 */
export function createLog(name: string, level: string, beside?: DestinationStream, main?: DestinationStream): Log {
  const options = {
    name,
    level: beside && level !== 'silent' && !isVerbose(level) ? 'info' : level,
    serializers: { err: errorForLog },
    redact: {
      paths: [
        ...SECRET_PATHS,
        ...SECRET_PATHS.map(path => `*.${path}`),
        'req.headers.authorization',
        'req.headers.cookie'
      ],
      censor: '[secret]'
    }
  }
  if (!beside) return main ? pino(options, main) : pino(options)
  return pino(
    options,
    pino.multistream([
      { level: level as Level, stream: main ?? pino.destination(1) },
      { level: 'info', stream: beside }
    ])
  )
}

/** Does this level include all lines that the console keeps? */
const isVerbose = (level: string): boolean =>
  (pino.levels.values[level] ?? Infinity) <= (pino.levels.values['info'] ?? 0)

type LoggedError = {
  type: string
  message: string
  stack: string
  code?: unknown
  constraint?: unknown
  cause?: LoggedError
}

/**
 * The parts of an error that are logged. A failed query's message quotes its values, and PostgreSQL's `detail` the row;
 * both may hold passwords and addresses. The statement and the stack are enough.
 */
function errorForLog(error: unknown): LoggedError | string {
  if (!(error instanceof Error)) return typeof error === 'string' ? error : 'no error, but something else was thrown'
  const { query, code, constraint } = error as { query?: unknown; code?: unknown; constraint?: unknown }
  const message = typeof query === 'string' ? `Failed query: ${query}` : error.message
  const places = (error.stack ?? '').slice((error.stack ?? '').indexOf('\n    at '))
  return {
    type: error.name === 'Error' ? error.constructor.name : error.name,
    message,
    stack: `${message}${places.startsWith('\n') ? places : ''}`,
    ...(code === undefined ? {} : { code }),
    ...(constraint === undefined ? {} : { constraint }),
    ...(error.cause instanceof Error ? { cause: errorForLog(error.cause) as LoggedError } : {})
  }
}

/** A line of a process's log, for the console. */
export type LogLine = { source: 'server' | 'task'; line: string; at: Date }

type LogTail = {
  /** Passed to pino beside the real destination. It never throws or waits. */
  stream: DestinationStream
  /** Passes lines to `store` at intervals, earlier lines included. */
  start(store: (lines: LogLine[]) => Promise<void>): void
  /** Stores the remaining lines and stops. */
  stop(): Promise<void>
}

const LEVELS: Record<number, string> = { 30: 'INFO', 40: 'WARN', 50: 'ERROR', 60: 'FATAL' }
const MAX_WAITING = 500
const MAX_LINE = 2000

/**
 * Collects log lines (info and above) for the console. Without a database it drops the oldest.
 * @param worker the process only runs jobs, so all its lines are about tasks
 */
export function createLogTail({ worker, interval = 1000 }: { worker: boolean; interval?: number }): LogTail {
  let waiting: LogLine[] = []
  let store: ((lines: LogLine[]) => Promise<void>) | undefined
  let timer: NodeJS.Timeout | undefined
  let storing: Promise<void> = Promise.resolve()

  async function flush(): Promise<void> {
    if (!store || waiting.length === 0) return
    const lines = waiting
    waiting = []
    try {
      await store(lines)
    } catch {
      // Not logged, because that would add a line here. Other code reports that the database is away.
      waiting = [...lines, ...waiting].slice(-MAX_WAITING)
    }
  }
  const flushInTurn = () => (storing = storing.then(flush))

  return {
    stream: {
      write(text) {
        const line = readLine(text, worker)
        if (!line) return
        waiting.push(line)
        if (waiting.length > MAX_WAITING) waiting.shift()
      }
    },
    start(given) {
      store = given
      timer = setInterval(() => void flushInTurn(), interval)
      timer.unref()
    },
    async stop() {
      clearInterval(timer)
      await flushInTurn()
      store = undefined
    }
  }
}

type Entry = { level: number; time: number; msg?: string; err?: { stack?: string; message?: string } }

function readLine(text: string, worker: boolean): LogLine | undefined {
  let entry: Entry & Record<string, unknown>
  try {
    entry = JSON.parse(text) as typeof entry
  } catch {
    return undefined
  }
  const { level, time, msg = '', err, pid: _pid, hostname: _hostname, name: _name, ...rest } = entry
  const word = LEVELS[level]
  if (!word) return undefined
  const at = new Date(time)
  const more = Object.keys(rest).length > 0 ? ` ${JSON.stringify(rest)}` : ''
  const cause = err ? `\n${err.stack ?? err.message ?? ''}` : ''
  const line = `${at.toISOString()} ${word} ${msg}${more}${cause}`.slice(0, MAX_LINE)
  const aboutTask = worker || 'queue' in rest || 'job' in rest
  return { source: aboutTask ? 'task' : 'server', line: line.replaceAll('\0', '').toWellFormed(), at }
}
