// The chat bot of another process, which a test starts and kills.
import { readConfig } from '../../infra/config.ts'
import { openApp } from '../../open-app.ts'
import { startChatBot } from './index.ts'

const { ctx } = await openApp(readConfig(process.env), { worker: false })
startChatBot(ctx, { everyMs: 50, leaseMs: 1500, connectMs: 20_000 })
