import { Button, Popover } from '@mantine/core'
import { useEffect, useId, useState, type ComponentType, type ReactNode } from 'react'
import { useT, type Key } from '../../i18n/admin.ts'
import { Anchor } from './anchor.tsx'

type Props = {
  title: Key
  icon: ComponentType<{ size: number }>
  opened: boolean
  onChange: (opened: boolean) => void
  children: ReactNode
}

/** A button of the toolbar, and what it opens below itself, which is made when it is first opened. */
export function ToolbarPopover({ title, icon: Icon, opened, onChange, children }: Props) {
  const t = useT()
  const id = useId()
  const [button, setButton] = useState<HTMLElement | null>(null)
  const [made, setMade] = useState(false)
  // Not at once: what is open from its first moment does not know where the focus was before.
  useEffect(() => setMade(button !== null), [button])
  const shown = opened && made
  return (
    <>
      <Button
        variant="default"
        size="sm"
        leftSection={<Icon size={16} aria-hidden />}
        aria-haspopup="dialog"
        aria-expanded={shown}
        aria-controls={shown ? `${id}-dropdown` : undefined}
        onClick={({ currentTarget }) => {
          // Not every browser focuses a button that is clicked, and here is where the focus comes back to.
          currentTarget.focus()
          setButton(currentTarget)
          onChange(!opened)
        }}
      >
        {t(title)}
      </Button>
      {button && (
        <Popover
          id={id}
          opened={shown}
          onChange={onChange}
          position="bottom-end"
          shadow="md"
          width={280}
          trapFocus
          withRoles
        >
          <Popover.Target>
            <Anchor of={button} />
          </Popover.Target>
          <Popover.Dropdown className="stack" aria-label={t(title)}>
            {children}
          </Popover.Dropdown>
        </Popover>
      )}
    </>
  )
}
