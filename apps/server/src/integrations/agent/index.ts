export { agentVersion, bundleAgent, type Bundle } from './bundle.ts'
export {
  createAgentClient,
  type AgentAddress,
  type AgentClient,
  type LogQuery,
  type AgentInfo,
  type AgentResult,
  type RawReply
} from './client.ts'
