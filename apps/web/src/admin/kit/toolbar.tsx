import { Button, NativeSelect, TextInput } from '@mantine/core'
import { IconDownload, IconFilter, IconPlus, IconSearch } from '@tabler/icons-react'
import { type ReactNode, type RefObject, useEffect, useState } from 'react'
import { address } from '../../api/client.ts'
import { useT } from '../../i18n/admin.ts'
import classes from './kit.module.css'
import { queryOf, type List, sortOf, sortText } from './list-state.ts'
import { useMayChange, useWords } from './words.tsx'
import type { Filter, Resource, Row } from './resource.ts'

type Props<R extends Row> = {
  resource: Resource<R>
  list: List
  narrow: boolean
  searchRef: RefObject<HTMLInputElement | null>
  children: ReactNode
}

export function Toolbar<R extends Row>({ resource, list, narrow, searchRef, children }: Props<R>) {
  const t = useT()
  const may = useMayChange(resource)
  const words = useWords(resource.key)
  const [typed, setTyped] = useState(list.search)
  // Back, Forward or a saved view may have changed the address.
  useEffect(() => setTyped(list.search), [list.search])
  const filters = resource.filters.filter(({ byTabs }) => !byTabs)
  const isOwn = (key: string) => filters.some(filter => filter.key === key)
  const active = Object.keys(list.filters).filter(isOwn).length
  const [opened, setOpened] = useState(false)
  const shown = opened || active > 0
  const Own = resource.toolbar
  return (
    <>
      <div className="row" style={{ gap: '0.6rem' }}>
        <form
          role="search"
          className={classes.search}
          onSubmit={event => {
            event.preventDefault()
            list.ask({ search: typed.trim() })
          }}
        >
          <TextInput
            ref={searchRef}
            type="search"
            aria-label={words('search')}
            placeholder={words('search')}
            aria-keyshortcuts="/"
            leftSection={<IconSearch size={16} aria-hidden />}
            value={typed}
            onChange={event => setTyped(event.currentTarget.value)}
            onKeyDown={event => {
              if (event.key !== 'Escape') return
              // Return to the rows and restore the search they show.
              event.preventDefault()
              setTyped(list.search)
              event.currentTarget.blur()
            }}
          />
          <Button type="submit" variant="default">
            {t('list.search')}
          </Button>
        </form>
        <div className={`row stretch push ${classes.tools}`} style={{ gap: '0.5rem' }}>
          {(filters.length > 0 || (narrow && resource.sort.length > 0)) && (
            <Button
              variant="default"
              aria-expanded={shown}
              aria-controls={`${resource.key}-filters`}
              leftSection={<IconFilter size={16} aria-hidden />}
              onClick={() => {
                const kept = Object.entries(list.filters).filter(([key]) => !isOwn(key))
                if (active > 0) list.ask({ filters: Object.fromEntries(kept) })
                setOpened(!shown)
              }}
            >
              {active > 0 ? t('list.noFilters', { count: active }) : t('list.filters')}
            </Button>
          )}
          {children}
          {resource.csv && (
            <Button
              variant="default"
              component="a"
              href={address(resource.list.path, {}, { ...queryOf(list), format: 'csv' })}
              download={`${resource.key}.csv`}
              leftSection={<IconDownload size={16} aria-hidden />}
            >
              CSV
            </Button>
          )}
          {Own && <Own />}
          {may.create && (
            <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={() => list.go({ form: 'new' })}>
              {words('add')}
            </Button>
          )}
        </div>
      </div>
      <div id={`${resource.key}-filters`} className={classes.filters} hidden={!shown}>
        {/* Render filters on demand, because some load their values. */}
        {(shown ? filters : []).map(filter => (
          <FilterInput
            key={filter.key}
            filter={filter}
            label={words(filter.key)}
            value={list.filters[filter.key] ?? ''}
            onChange={value => list.ask({ filters: { ...list.filters, [filter.key]: value } })}
          />
        ))}
        {narrow && resource.sort.length > 0 && (
          <NativeSelect
            size="xs"
            label={t('list.sort')}
            value={sortText(list.sort)}
            data={[
              { value: '', label: t('list.standard') },
              ...resource.sort.flatMap(by => [
                { value: `${by}.asc`, label: `${words(by)} ↑` },
                { value: `${by}.desc`, label: `${words(by)} ↓` }
              ])
            ]}
            onChange={event => list.ask({ sort: sortOf(event.currentTarget.value, resource.sort) })}
          />
        )}
      </div>
    </>
  )
}

type FilterProps = { filter: Filter; label: string; value: string; onChange: (value: string) => void }

const FilterInput = (props: FilterProps) =>
  props.filter.useOptions ? <Choose {...props} useOptions={props.filter.useOptions} /> : <Typed {...props} />

function Choose({
  label,
  value,
  onChange,
  useOptions
}: FilterProps & { useOptions: NonNullable<Filter['useOptions']> }) {
  const t = useT()
  const options = useOptions()
  return (
    <NativeSelect
      size="xs"
      label={label}
      value={value}
      data={[{ value: '', label: t('list.any') }, ...options]}
      onChange={event => onChange(event.currentTarget.value)}
    />
  )
}

/** Applies on blur or Enter, not at every letter. */
function Typed({ filter, label, value, onChange }: FilterProps) {
  const [typed, setTyped] = useState(value)
  useEffect(() => setTyped(value), [value])
  const done = () => {
    const text = typed.trim()
    if (text !== value && filter.accepts(text)) onChange(text)
  }
  return (
    <TextInput
      size="xs"
      label={label}
      {...(filter.type ? { type: filter.type } : {})}
      value={typed}
      onChange={event => setTyped(event.currentTarget.value)}
      onBlur={done}
      onKeyDown={event => {
        if (event.key === 'Enter') done()
      }}
    />
  )
}
