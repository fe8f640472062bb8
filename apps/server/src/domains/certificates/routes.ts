import { routes } from '@netlet/contract'
import type { AppContext } from '../../infra/context.ts'
import type { Mount } from '../../infra/http/mount.ts'
import { checkProxyTls, readProxyTls, setProxyTls } from './set-proxy-tls.ts'

export function certificateRoutes(mount: Mount, ctx: AppContext): void {
  const { fleet } = routes
  mount(fleet.proxyTls, call => readProxyTls(ctx.db, call.params.id, ctx.now()))
  mount(fleet.setProxyTls, call => setProxyTls(ctx, call.caller, call.params.id, call.body))
  mount(fleet.checkProxyTls, call => checkProxyTls(ctx, call.params.id))
}
