export {
  createAgentClient,
  type AgentAddress,
  type AgentClient,
  type LogQuery,
  type AgentInfo,
  type AgentResult,
  type RawReply
} from './client.ts'
