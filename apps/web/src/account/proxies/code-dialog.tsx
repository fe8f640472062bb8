import '../../kit/styles/forms.ts'
import { NativeSelect } from '@mantine/core'
import { useState } from 'react'
import { useT as useAccountT } from '../../i18n/account.ts'
import { useT } from '../../i18n/proxies.ts'
import { CopyButton } from '../../kit/copy-button.tsx'
import { Dialog } from '../../kit/dialog.tsx'
import { hostPort } from '../../kit/host-port.ts'
import { type Credentials, type Tool, snippetOf, toolsFor } from './formats.ts'
import classes from './panel.module.css'

const NAMES: Record<Exclude<Tool, 'extension'>, string> = {
  curl: 'curl',
  python: 'Python (requests)',
  node: 'Node.js (undici)',
  playwright: 'Playwright',
  puppeteer: 'Puppeteer',
  scrapy: 'Scrapy',
  wget: 'Wget'
}

/** How to use a proxy in a program. The copied code has the password; the screen masks it. */
export function CodeDialog({ proxy, onClose }: { proxy: Credentials; onClose: () => void }) {
  const t = useT()
  const tAccount = useAccountT()
  const [chosen, setTool] = useState<Tool>('curl')
  const [secure, setSecure] = useState(false)
  const tools = toolsFor(proxy, secure)
  const tool = tools.includes(chosen) ? chosen : 'curl'
  const words = {
    protocol: t('code.protocol'),
    server: t('code.server'),
    port: t('code.port'),
    username: tAccount('proxy.username'),
    password: tAccount('proxy.password')
  }
  const nameOf = (one: Tool) => (one === 'extension' ? t('code.extension') : NAMES[one])
  return (
    <Dialog size="lg" onClose={onClose} title={t('code.title')}>
      <div className="stack">
        <p className="dim">{t('code.hint', { address: hostPort(proxy.ip, proxy.port) })}</p>
        {proxy.https && (
          <>
            <NativeSelect
              label={t('code.way')}
              value={secure ? 'https' : 'http'}
              onChange={event => setSecure(event.currentTarget.value === 'https')}
              data={[
                { value: 'http', label: t('code.way.http') },
                { value: 'https', label: t('code.way.https') }
              ]}
            />
            {secure && (
              <p className="dim">
                {t(proxy.https.leads ? 'code.secure' : 'code.secureElsewhere', { host: proxy.https.host })}
              </p>
            )}
          </>
        )}
        <div className="row bottom between">
          <NativeSelect
            label={t('code.tool')}
            data-autofocus
            value={tool}
            onChange={event => setTool(tools.find(one => one === event.currentTarget.value) ?? 'curl')}
            data={tools.map(value => ({ value, label: nameOf(value) }))}
          />
          <CopyButton
            size="sm"
            text={snippetOf(tool, proxy, words, { secure })}
            name={nameOf(tool)}
            done={t('copied')}
            failed={t('copyFailed')}
          />
        </div>
        <pre className={classes.code} tabIndex={0} role="group" aria-label={nameOf(tool)}>
          <code>{snippetOf(tool, proxy, words, { masked: true, secure })}</code>
        </pre>
      </div>
    </Dialog>
  )
}
