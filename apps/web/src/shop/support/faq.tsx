import { Button, TextInput } from '@mantine/core'
import { IconSearch } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { Link } from 'react-router'
import { read } from '../../api/query.ts'
import { support } from '../../api/routes.ts'
import { useT } from '../../i18n/index.ts'
import { passFocus } from '../../kit/focus-return.ts'
import { EmptyState, ErrorState } from '../../kit/states.tsx'
import { useAddress } from '../../kit/use-address.ts'
import { QuestionList } from '../question-list.tsx'
import classes from './support.module.css'

/** Questions shown at first, and of a search. */
const FIRST = 5
const FOUND = 10
/** The server's limit for a search, in characters. */
const LONGEST = 200

/** The questions, or those that a search found. The search is in the address (`?q=`). */
export function Faq() {
  const t = useT()
  const { query, change } = useAddress()
  const field = useRef<HTMLInputElement>(null)
  const search = (query.get('q') ?? '').trim().slice(0, LONGEST)
  const [typed, setTyped] = useState(search)
  const [shown, setShown] = useState(search)
  const [missing, setMissing] = useState(false)
  // After Back or Forward, show the search in the field.
  if (shown !== search) {
    setShown(search)
    setTyped(search)
    setMissing(false)
  }
  const find = (text: string) => change({ q: text || null }, { push: true })
  const { data, isPending, error, refetch } = useQuery({
    ...read(support.faqs, { query: { limit: search ? FOUND : FIRST, search: search || undefined } }),
    placeholderData: previous => previous
  })
  const submit = () => {
    const text = typed.trim()
    setMissing(text === '')
    if (text) find(text)
    else field.current?.focus()
  }
  const showAll = () => {
    passFocus(field.current)
    find('')
  }
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
          ref={field}
          type="search"
          maxLength={LONGEST}
          aria-label={t('support.searchLabel')}
          placeholder={t('support.searchLabel')}
          leftSection={<IconSearch size={16} aria-hidden />}
          error={missing && <span role="alert">{t('support.enterQuestion')}</span>}
          value={typed}
          onChange={event => {
            setTyped(event.currentTarget.value)
            setMissing(false)
          }}
        />
        <Button type="submit">{t('support.search')}</Button>
      </form>
      {search && (
        <p className="row" aria-live="polite">
          <span className="breaks shrinks">{t('support.results', { text: search })}</span>
          <Button variant="subtle" size="compact-sm" onClick={showAll}>
            {t('support.showAll')}
          </Button>
        </p>
      )}
      <div style={{ minHeight: '22rem' }} aria-busy={isPending}>
        {error && !data ? (
          <ErrorState error={error} onRetry={() => void refetch()} />
        ) : isPending ? (
          <QuestionList places={FIRST} />
        ) : data?.data.length === 0 ? (
          <NoQuestions onClear={search ? showAll : undefined} />
        ) : (
          <QuestionList questions={data?.data} places={FIRST} />
        )}
      </div>
    </>
  )
}

/** `onClear`: a search found none; without it there are none at all. */
function NoQuestions({ onClear }: { onClear: (() => void) | undefined }) {
  const t = useT()
  if (!onClear)
    return (
      <EmptyState title={t('support.empty')} body={t('support.emptyHint')}>
        <Button component={Link} to="#contact" variant="default">
          {t('support.write')}
        </Button>
      </EmptyState>
    )
  return (
    <EmptyState title={t('support.none')} body={t('support.noneHint')}>
      <Button variant="default" onClick={onClear}>
        {t('support.clear')}
      </Button>
    </EmptyState>
  )
}
