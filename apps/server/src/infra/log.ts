import { pino, type DestinationStream, type Level, type Logger } from 'pino'

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
