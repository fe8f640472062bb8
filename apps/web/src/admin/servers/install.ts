import type { Server } from '@netlet/contract'
import { call } from '../../api/client.ts'
import { fleet } from '../../api/routes.ts'
import { confirm } from '../../kit/confirm.ts'
import { notify } from '../../kit/notify.ts'
import type { Tools } from '../kit/index.ts'

/** Installs and starts the agent over SSH with the login that is stored, and opens the steps beside the list. */
export async function installAgent(server: Server, { t, show, refresh }: Tools): Promise<void> {
  const yes = await confirm({
    title: t('servers.installTitle', { name: server.name }),
    body: t('servers.installBody', { ip: server.ip, port: server.port })
  })
  if (!yes) return
  await call(fleet.provision, { params: { id: server.id }, body: { run_init: 1 } })
  notify('good', t('servers.installAsked'))
  show(server.id)
  refresh()
}
