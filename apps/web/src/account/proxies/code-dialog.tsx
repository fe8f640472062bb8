import '../../kit/styles/forms.ts'
import '../../kit/styles/overlays.ts'
import { Modal, NativeSelect } from '@mantine/core'
import { useState } from 'react'
import { useT as useAccountT } from '../../i18n/account.ts'
import { t as word } from '../../i18n/index.ts'
import { useT } from '../../i18n/proxies.ts'
import { CopyButton } from '../../kit/copy-button.tsx'
import { useFocusReturn } from '../../kit/focus-return.ts'
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
  useFocusReturn(true)
  const words = {
    protocol: t('code.protocol'),
    server: t('code.server'),
    port: t('code.port'),
    username: tAccount('proxy.username'),
    password: tAccount('proxy.password')
  }
  const nameOf = (one: Tool) => (one === 'extension' ? t('code.extension') : NAMES[one])
  return (
    <Modal
      opened
      size="lg"
      onClose={onClose}
      returnFocus={false}
      title={t('code.title')}
      closeButtonProps={{ 'aria-label': word('close') }}
    >
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
    </Modal>
  )
}
