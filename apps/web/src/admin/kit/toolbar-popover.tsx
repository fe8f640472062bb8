import { Button, Popover } from '@mantine/core'
import type { ComponentType, ReactNode } from 'react'
import { useT, type Key } from '../../i18n/admin.ts'
import { Anchor, useOpener } from './row-menu.tsx'

type Props = {
  title: Key
  icon: ComponentType<{ size: number }>
  opened: boolean
  onChange: (opened: boolean) => void
  children: ReactNode
}

export function ToolbarPopover({ title, icon: Icon, opened, onChange, children }: Props) {
  const t = useT()
  const { opener, button, made } = useOpener(opened, onChange)
  return (
    <>
      <Button
        variant="default"
        size="sm"
        leftSection={<Icon size={16} aria-hidden />}
        aria-haspopup="dialog"
        {...opener}
      >
        {t(title)}
      </Button>
      {button && (
        <Popover {...made} position="bottom-end" shadow="md" width={280} trapFocus withRoles>
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
