import type { Order, Proxy } from '@netlet/contract'
import { useT } from '../../i18n/proxies.ts'
import { CopyButton } from '../../kit/copy-button.tsx'
import { hostPort } from '../../kit/host-port.ts'
import classes from './panel.module.css'

/** A shell command that requests the address of a session. */
const sessionSnippet = ({ ip, port, username, password }: Proxy): string =>
  `curl -x 'http://${hostPort(ip, port)}' -U '${username}-session-abc:${password}' https://example.com`

/** Explains an order's IPv6 addresses and how its connections leave. Nothing for IPv4. */
export function ExitNote({ order, proxy }: { order: Order; proxy: Proxy | undefined }) {
  const t = useT()
  if (order.address_family === 'ipv4') return null
  if (order.address_family === 'any') return <p className="dim">{t('proxy.ipv6.any')}</p>
  const snippet = order.egress === 'session' && proxy ? sessionSnippet(proxy) : null
  return (
    <div className={classes.exits}>
      <p className="dim">
        {t('proxy.ipv6')} {t(`proxy.ipv6.${order.egress}`)}
      </p>
      {snippet !== null && (
        <p className={classes.snippet}>
          <code>{snippet}</code>
          <CopyButton text={snippet} name={t('proxy.ipv6.command')} />
        </p>
      )}
    </div>
  )
}
