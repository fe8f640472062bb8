import './styles/forms.ts'
import { Button, TextInput } from '@mantine/core'
import { IconFilter, IconSearch } from '@tabler/icons-react'
import { type ReactNode, type RefObject, useId, useRef, useState } from 'react'
import { useT } from '../i18n/index.ts'
import classes from './filter-bar.module.css'
import { passFocus } from './focus-return.ts'
import { LONGEST_SEARCH } from './use-typed.ts'

type Search = {
  /** The field's accessible name and placeholder. */
  label: string
  field: RefObject<HTMLInputElement | null>
  typed: string
  onType: (text: string) => void
}

type Props = {
  label: string
  search?: Search
  /** The one control that a phone shows beside the button "Filters", if there is no search. */
  first?: ReactNode
  /** How many of the filters are set. */
  active: number
  onClear: () => void
  /** Fields with labels or accessible names. */
  children: ReactNode
}

/** Search and filters above a list. On a phone the filters are behind a button, so that they take one row. */
export function FilterBar({ label, search, first, active, onClear, children }: Props) {
  const t = useT()
  const id = useId()
  const [open, setOpen] = useState(false)
  const bar = useRef<HTMLDivElement>(null)
  return (
    <div ref={bar} className={classes.bar} role="search" aria-label={label}>
      <div className={classes.first}>
        {search && (
          <TextInput
            ref={search.field}
            type="search"
            size="sm"
            className={classes.find}
            aria-label={search.label}
            placeholder={search.label}
            leftSection={<IconSearch size={16} aria-hidden />}
            maxLength={LONGEST_SEARCH}
            value={search.typed}
            onChange={event => search.onType(event.currentTarget.value)}
          />
        )}
        {first}
        <Button
          variant="default"
          size="sm"
          className={classes.toggle}
          leftSection={<IconFilter size={16} aria-hidden />}
          aria-expanded={open}
          aria-controls={id}
          onClick={() => setOpen(!open)}
        >
          {active > 0 ? t('filters.count', { count: active }) : t('filters.title')}
        </Button>
      </div>
      <div id={id} className={classes.filters} data-open={open || undefined}>
        {children}
        {(active > 0 || Boolean(search?.typed)) && (
          <Button
            variant="subtle"
            color="gray"
            size="sm"
            onClick={() => {
              passFocus(bar.current?.querySelector<HTMLElement>('input, select'))
              onClear()
            }}
          >
            {t('filters.clear')}
          </Button>
        )}
      </div>
    </div>
  )
}
