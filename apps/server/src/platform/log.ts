import { pino, type Logger } from 'pino'

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

export function createLog(name: string, level: string): Log {
  return pino({
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
  })
}
