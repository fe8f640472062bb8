import '../../kit/styles/forms.ts'
import { NativeSelect } from '@mantine/core'
import { useState } from 'react'
import { useT as useAccountT } from '../../i18n/account.ts'
import { useT } from '../../i18n/proxies.ts'
import { CopyButton } from '../../kit/copy-button.tsx'
import { Dialog } from '../../kit/dialog.tsx'
import { hostPort } from '../../kit/host-port.ts'
import type { Credentials } from './formats.ts'
import classes from './panel.module.css'
import { snippetOf, TOOLS, type Tool } from './snippets.ts'

const NAMES: Record<Exclude<Tool, 'extension'>, string> = {
  curl: 'curl',
  python: 'Python (requests)',
  node: 'Node.js (undici)',
  playwright: 'Playwright',
  puppeteer: 'Puppeteer',
  scrapy: 'Scrapy',
  wget: 'Wget'
}

/** How to use a proxy in a program. The password is in what is copied, and not on the screen. */
export function CodeDialog({ proxy, onClose }: { proxy: Credentials; onClose: () => void }) {
  const t = useT()
  const tAccount = useAccountT()
  const [tool, setTool] = useState<Tool>('curl')
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
        <div className={classes.toolLine}>
          <NativeSelect
            label={t('code.tool')}
            data-autofocus
            value={tool}
            onChange={event => setTool(TOOLS.find(one => one === event.currentTarget.value) ?? 'curl')}
            data={TOOLS.map(value => ({ value, label: nameOf(value) }))}
          />
          <CopyButton
            size="sm"
            text={snippetOf(tool, proxy, words)}
            name={nameOf(tool)}
            done={t('copied')}
            failed={t('copyFailed')}
          />
        </div>
        <pre className={classes.code} tabIndex={0} role="group" aria-label={nameOf(tool)}>
          <code>{snippetOf(tool, proxy, words, true)}</code>
        </pre>
      </div>
    </Dialog>
  )
}
