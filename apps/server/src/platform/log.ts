import { pino, type DestinationStream, type Logger } from 'pino'

export type Log = Logger

/** Paths that could carry a secret into a log line. */
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

/** @param beside gets every line too (info and above) */
export function createLog(name: string, level: string, beside?: DestinationStream): Log {
  const options = {
    name,
    level,
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
  if (!beside) return pino(options)
  return pino(
    options,
    pino.multistream([
      { level: 'trace', stream: pino.destination(1) },
      { level: 'info', stream: beside }
    ])
  )
}
