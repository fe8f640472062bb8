import { ActionIcon, Button, Checkbox } from '@mantine/core'
import { IconArrowDown, IconArrowUp, IconColumns } from '@tabler/icons-react'
import { useState } from 'react'
import { useT } from '../../i18n/admin.ts'
import classes from './kit.module.css'
import { ToolbarPopover } from './toolbar-popover.tsx'
import { UnavailableHint } from '../../kit/unavailable-hint.tsx'
import { useWords } from './words.ts'

type Choice = { key: string; shown: boolean }
type Props = {
  resource: string
  arranged: Choice[]
  /** null restores the screen's own columns. */
  onChange: (columns: Choice[] | null) => void
}

export function ColumnsMenu({ resource, arranged, onChange }: Props) {
  const t = useT()
  const words = useWords(resource)
  const [opened, setOpened] = useState(false)
  const move = (at: number, by: number) => {
    const next = [...arranged]
    const [moved] = next.splice(at, 1)
    if (moved) next.splice(at + by, 0, moved)
    onChange(next)
  }
  const shown = arranged.filter(one => one.shown).length
  return (
    <ToolbarPopover title="columns.title" icon={IconColumns} opened={opened} onChange={setOpened}>
      <ul className={`stack ${classes.choices}`} style={{ gap: 0 }}>
        {arranged.map(({ key, shown: on }, at) => (
          <li key={key} className="row unwrapped between" style={{ gap: '0.5rem', minHeight: '2rem' }}>
            <UnavailableHint why={on && shown === 1 ? t('columns.last') : undefined}>
              <Checkbox
                size="xs"
                label={words(key)}
                checked={on}
                onChange={() => onChange(arranged.map(one => (one.key === key ? { key, shown: !on } : one)))}
              />
            </UnavailableHint>
            <span className={`row unwrapped inline ${classes.moves}`} style={{ gap: 0 }}>
              <UnavailableHint why={at === 0 ? t('columns.isFirst') : undefined}>
                <ActionIcon
                  variant="subtle"
                  color="gray"
                  aria-label={t('columns.up', { name: words(key) })}
                  onClick={() => move(at, -1)}
                >
                  <IconArrowUp size={15} aria-hidden />
                </ActionIcon>
              </UnavailableHint>
              <UnavailableHint why={at === arranged.length - 1 ? t('columns.isLast') : undefined}>
                <ActionIcon
                  variant="subtle"
                  color="gray"
                  aria-label={t('columns.down', { name: words(key) })}
                  onClick={() => move(at, 1)}
                >
                  <IconArrowDown size={15} aria-hidden />
                </ActionIcon>
              </UnavailableHint>
            </span>
          </li>
        ))}
      </ul>
      <Button size="xs" variant="subtle" onClick={() => onChange(null)}>
        {t('columns.reset')}
      </Button>
    </ToolbarPopover>
  )
}
