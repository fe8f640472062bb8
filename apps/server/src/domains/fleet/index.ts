export { agentOf, noteAnswer, noteSilence } from './agents.ts'
export { AgentUnreachable, convergeServer, type OnConfirmed } from './converge.ts'
export {
  agentProgress,
  followOn,
  renewDenyLists,
  renewPrefixes,
  serversBehind,
  unwantUsers,
  wantUsers,
  type WantedUser
} from './desired.ts'
export { convergeQueue } from './queues.ts'
