export { connectSsh, type SshOutput, type SshResult, type SshSession, type SshTarget } from './client.ts'
