import { Button, Skeleton, TextInput } from '@mantine/core'
import { IconSearch } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useSearchParams } from 'react-router'
import { read } from '../../api/query.ts'
import { support } from '../../api/routes.ts'
import { useT } from '../../i18n/index.ts'
import { notify } from '../../kit/notify.ts'
import { EmptyState, ErrorState } from '../../kit/states.tsx'
import classes from './support.module.css'

/** How many are shown at first, and how many of a search. */
const FIRST = 5
const FOUND = 10
/** Characters that the server searches for at most. */
const LONGEST = 200

/** The questions, or what a search of them found; what is searched for is in the address (`?q=`). */
export function Faq() {
  const t = useT()
  const [query, setQuery] = useSearchParams()
  const search = (query.get('q') ?? '').trim().slice(0, LONGEST)
  const [typed, setTyped] = useState(search)
  const [shown, setShown] = useState(search)
  // Back and forward: the field says what is found.
  if (shown !== search) {
    setShown(search)
    setTyped(search)
  }
  const find = (text: string) =>
    setQuery(before => {
      const next = new URLSearchParams(before)
      if (text) next.set('q', text)
      else next.delete('q')
      return next
    })
  const { data, isPending, error, refetch } = useQuery({
    ...read(support.faqs, { query: { limit: search ? FOUND : FIRST, search: search || undefined } }),
    placeholderData: previous => previous
  })
  const submit = () => (typed.trim() ? find(typed.trim()) : notify('bad', t('support.enterQuestion')))
  return (
    <>
      <form
        role="search"
        className={classes.search}
        onSubmit={event => {
          event.preventDefault()
          submit()
        }}
      >
        <TextInput
          type="search"
          aria-label={t('support.searchLabel')}
          placeholder={t('support.searchLabel')}
          leftSection={<IconSearch size={16} aria-hidden />}
          value={typed}
          onChange={event => setTyped(event.currentTarget.value)}
        />
        <Button type="submit">{t('support.search')}</Button>
      </form>
      {search && (
        <p className="row" aria-live="polite">
          {t('support.results', { text: search })}
          <Button variant="subtle" size="compact-sm" onClick={() => find('')}>
            {t('support.showAll')}
          </Button>
        </p>
      )}
      <div className={classes.list} aria-busy={isPending}>
        {error && !data ? (
          <ErrorState error={error} onRetry={() => void refetch()} />
        ) : isPending ? (
          Array.from({ length: FIRST }, (_, index) => <Skeleton key={index} height={56} mb={8} />)
        ) : data?.data.length === 0 ? (
          <EmptyState
            title={search ? t('support.none') : t('support.empty')}
            body={search ? t('support.noneHint') : undefined}
          />
        ) : (
          data?.data.map(({ id, question, answer }) => (
            <details key={id} className={`card ${classes.question}`}>
              <summary>{question}</summary>
              <p>{answer}</p>
            </details>
          ))
        )}
      </div>
    </>
  )
}
