import { ActionIcon, Button, type ButtonProps } from '@mantine/core'
import { IconCheck, IconCopy } from '@tabler/icons-react'
import { useEffect, useState } from 'react'
import { useT } from '../i18n/index.ts'
import { notify } from './notify.ts'

/** Milliseconds for which the tick shows. */
const TIP = 2000

type Said = {
  /** The messages after success and failure. */
  done?: string | undefined
  failed?: string | undefined
}
/** The text, or a function that makes it on click. */
type Copied = string | (() => string)

function useCopy(text: Copied, { done, failed }: Said) {
  const t = useT()
  const [copied, setCopied] = useState(false)
  useEffect(() => {
    if (!copied) return
    const timer = setTimeout(() => setCopied(false), TIP)
    return () => clearTimeout(timer)
  }, [copied])
  const copy = async () => {
    if (!(await toClipboard(typeof text === 'string' ? text : text()))) return notify('bad', failed ?? t('copy.failed'))
    setCopied(true)
    notify('good', done ?? t('copy.done'), TIP)
  }
  return { Icon: copied ? IconCheck : IconCopy, onClick: () => void copy() }
}

/** Copies a text. `name` distinguishes several such buttons on a page. */
export function CopyButton({
  text,
  name,
  done,
  failed,
  children,
  ...button
}: ButtonProps & Said & { text: Copied; name?: string }) {
  const t = useT()
  const { Icon, onClick } = useCopy(text, { done, failed })
  return (
    <Button
      variant="default"
      size="xs"
      leftSection={<Icon size={15} aria-hidden />}
      {...button}
      aria-label={name ? `${t('copy')}: ${name}` : undefined}
      onClick={onClick}
    >
      {children ?? t('copy')}
    </Button>
  )
}

/** The same as an icon with an accessible name. */
export function CopySign({ text, name, done, failed }: Said & { text: Copied; name: string }) {
  const { Icon, onClick } = useCopy(text, { done, failed })
  return (
    <ActionIcon variant="subtle" color="gray" size={28} aria-label={name} title={name} onClick={onClick}>
      <Icon size={16} />
    </ActionIcon>
  )
}

/** Copies text to the clipboard; false if the browser does not allow it. */
export async function toClipboard(text: string): Promise<boolean> {
  try {
    // Without TLS there is no `navigator.clipboard`. Use `execCommand` below.
    if (navigator.clipboard) {
      await navigator.clipboard.writeText(text)
      return true
    }
  } catch {
    // Refused, or the window lost the focus. `execCommand` may still work.
  }
  const field = document.createElement('textarea')
  field.value = text
  field.style.cssText = 'position:fixed;opacity:0'
  document.body.append(field)
  field.select()
  try {
    return document.execCommand('copy')
  } finally {
    field.remove()
  }
}
