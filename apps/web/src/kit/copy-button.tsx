import { Button, type ButtonProps } from '@mantine/core'
import { IconCheck, IconCopy } from '@tabler/icons-react'
import { useEffect, useState } from 'react'
import { useT } from '../i18n/index.ts'
import { toClipboard } from './clipboard.ts'
import { notify } from './notify.ts'

/** Milliseconds that the tick shows. */
const TIP = 2000

type Props = ButtonProps & { text: string; name?: string; done?: string; failed?: string }

/** Copies a text; `name` says which one where there are several on a page, `done` and `failed` what came of it. */
export function CopyButton({ text, name, done, failed, ...button }: Props) {
  const t = useT()
  const [copied, setCopied] = useState(false)
  useEffect(() => {
    if (!copied) return
    const timer = setTimeout(() => setCopied(false), TIP)
    return () => clearTimeout(timer)
  }, [copied])
  const copy = async () => {
    if (!(await toClipboard(text))) return notify('bad', failed ?? t('copy.failed'))
    setCopied(true)
    notify('good', done ?? t('copy.done'), TIP)
  }
  const Icon = copied ? IconCheck : IconCopy
  return (
    <Button
      variant="default"
      size="xs"
      leftSection={<Icon size={15} aria-hidden />}
      {...button}
      aria-label={name ? `${t('copy')}: ${name}` : undefined}
      onClick={() => void copy()}
    >
      {t('copy')}
    </Button>
  )
}
