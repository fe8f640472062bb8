export { connectSsh, fingerprintOf, type SshOutput, type SshSession } from './client.ts'
