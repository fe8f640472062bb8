export {
  createAgentClient,
  type AgentAddress,
  type AgentClient,
  type AgentInfo,
  type AgentResult,
  type RawReply
} from './client.ts'
