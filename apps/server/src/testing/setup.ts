import { createRequire } from 'node:module'
import './one-connection.ts'

// React chooses its build when it is loaded. The one for production renders the mails of all tests in half of the time.
const environment = process.env['NODE_ENV']
process.env['NODE_ENV'] = 'production'
const load = createRequire(import.meta.url)
load('react/jsx-runtime')
load('react-dom/server')
process.env['NODE_ENV'] = environment
