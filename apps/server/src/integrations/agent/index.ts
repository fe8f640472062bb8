export { createAgentClient, type AgentAddress, type AgentClient, type AgentResult, type RawReply } from './client.ts'
