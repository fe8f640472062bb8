import { Button, Popover } from '@mantine/core'
import type { ComponentType, ReactNode } from 'react'
import { useT, type Key } from '../../i18n/admin.ts'

type Props = {
  title: Key
  icon: ComponentType<{ size: number }>
  opened: boolean
  onChange: (opened: boolean) => void
  children: ReactNode
}

/** A button of the toolbar, and what it opens below itself. */
export function ToolbarPopover({ title, icon: Icon, opened, onChange, children }: Props) {
  const t = useT()
  return (
    <Popover opened={opened} onChange={onChange} position="bottom-end" shadow="md" width={280} trapFocus withRoles>
      <Popover.Target>
        <Button
          variant="default"
          size="sm"
          leftSection={<Icon size={16} aria-hidden />}
          onClick={() => onChange(!opened)}
        >
          {t(title)}
        </Button>
      </Popover.Target>
      <Popover.Dropdown className="stack" aria-label={t(title)}>
        {children}
      </Popover.Dropdown>
    </Popover>
  )
}
