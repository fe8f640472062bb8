export { connectSsh, type SshOutput, type SshSession } from './client.ts'
