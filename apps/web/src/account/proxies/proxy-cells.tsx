import type { Proxy } from '@netlet/contract'
import { ActionIcon } from '@mantine/core'
import { IconCheck, IconCopy, IconEye, IconEyeOff } from '@tabler/icons-react'
import { useEffect, useState } from 'react'
import { useT as useAccountT } from '../../i18n/account.ts'
import { useT } from '../../i18n/proxies.ts'
import { toClipboard } from '../../kit/clipboard.ts'
import { hostPort } from '../../kit/host-port.ts'
import { notify } from '../../kit/notify.ts'
import { StateBadge } from '../../kit/state-badge.tsx'
import { formatProxies, type FormatChoice } from './formats.ts'
import type { Reveal } from './reveal.ts'
import { MASK } from './snippets.ts'
import classes from './table.module.css'

/** Milliseconds that the tick shows. */
const TIP = 2000

export const addressOf = ({ ip, port }: Proxy) => hostPort(ip, port)

export function Password({ proxy, reveal }: { proxy: Proxy; reveal: Reveal }) {
  const t = useT()
  const shown = reveal.shows(proxy.id)
  return (
    <span className={classes.secret}>
      {shown ? (
        <span className="mono" data-password>
          {proxy.password}
        </span>
      ) : (
        <>
          <span className="mono" aria-hidden>
            {MASK}
          </span>
          <span className="sr-only">{t('proxy.masked')}</span>
        </>
      )}
      <ActionIcon
        variant="subtle"
        color="gray"
        size={26}
        aria-pressed={shown}
        aria-label={t('proxy.showOf', { address: addressOf(proxy) })}
        onClick={() => reveal.toggle(proxy.id)}
      >
        {shown ? <IconEyeOff size={16} /> : <IconEye size={16} />}
      </ActionIcon>
    </span>
  )
}

export function ProxyStatus({ status }: { status: boolean | null }) {
  const t = useAccountT()
  if (status === null) return <StateBadge tone="off">{t('proxy.unknown')}</StateBadge>
  return <StateBadge tone={status ? 'good' : 'bad'}>{t(status ? 'proxy.good' : 'proxy.bad')}</StateBadge>
}

/** Copies one proxy, with its password, in the chosen format; where that is a whole file's, as a line. */
export function CopyProxy({ proxy, choice }: { proxy: Proxy; choice: FormatChoice }) {
  const t = useT()
  const [copied, setCopied] = useState(false)
  useEffect(() => {
    if (!copied) return
    const timer = setTimeout(() => setCopied(false), TIP)
    return () => clearTimeout(timer)
  }, [copied])
  const copy = async () => {
    const isFile = choice.format === 'csv' || choice.format === 'json'
    const text = formatProxies([proxy], isFile ? { ...choice, format: 'line' } : choice)
    if (!(await toClipboard(text))) return notify('bad', t('copyFailed'))
    setCopied(true)
    notify('good', t('copied'), TIP)
  }
  const name = t('proxy.copyRow', { address: addressOf(proxy) })
  return (
    <ActionIcon variant="subtle" color="gray" size={28} aria-label={name} title={name} onClick={() => void copy()}>
      {copied ? <IconCheck size={16} /> : <IconCopy size={16} />}
    </ActionIcon>
  )
}

/** Selects a proxy, or all of a page; the target is larger than the box. */
export function PickBox(props: { name: string; checked: boolean; some?: boolean; onChange: () => void }) {
  const { name, checked, some = false, onChange } = props
  return (
    <label className={classes.pick}>
      <input
        type="checkbox"
        aria-label={name}
        checked={checked}
        ref={box => {
          if (box) box.indeterminate = some && !checked
        }}
        onChange={onChange}
      />
    </label>
  )
}
