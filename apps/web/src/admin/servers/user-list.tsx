import { Button, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useT } from '../../i18n/admin.ts'
import { numberText } from '../../kit/number.ts'
import classes from './servers.module.css'

export type AgentUser = { user: string; prefixes: string[] }

/** Rows shown at once. An agent may have thousands of users. */
const SHOWN = 100

/** `users`: undefined before they are read, null if the role may not see them. */
type Props = { users: AgentUser[] | null | undefined; onChoose: (user: string) => void }

/** The agent's users. A click copies one into the handle's field. */
export function UserList({ users, onChoose }: Props) {
  const t = useT()
  const [typed, setTyped] = useState('')
  const [shown, setShown] = useState(SHOWN)
  if (users === undefined) return null
  if (users === null) return <p className="dim">{t('manage.usersHidden')}</p>
  const found = typed
    ? users.filter(({ user, prefixes }) => user.includes(typed) || prefixes.some(prefix => prefix.includes(typed)))
    : users
  return (
    <section className="card stack panel shrinks" style={{ gap: '0.75rem' }} aria-label={t('manage.users')}>
      <h3 className="size-body">{t('manage.usersCount', { count: numberText(users.length) })}</h3>
      {users.length === 0 ? (
        <p className="dim">{t('manage.noUsers')}</p>
      ) : (
        <div className="stack">
          <TextInput
            size="sm"
            aria-label={t('manage.find')}
            placeholder={t('manage.find')}
            value={typed}
            onChange={event => setTyped(event.currentTarget.value)}
          />
          <ul className={`size-table ${classes.users}`} aria-label={t('manage.users')}>
            {found.slice(0, shown).map(({ user, prefixes }) => (
              <li key={user}>
                <button type="button" className="mono" onClick={() => onChoose(user)}>
                  {user}
                </button>
                <span className="mono">{prefixes.slice(0, 3).join(', ') + (prefixes.length > 3 ? ' …' : '')}</span>
              </li>
            ))}
          </ul>
          {found.length > shown && (
            <div>
              <Button size="compact-sm" variant="default" onClick={() => setShown(shown + SHOWN)}>
                {t('manage.moreUsers', { count: found.length - shown })}
              </Button>
            </div>
          )}
        </div>
      )}
    </section>
  )
}
