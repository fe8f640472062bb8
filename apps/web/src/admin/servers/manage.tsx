import { Button, Skeleton, TextInput } from '@mantine/core'
import type { Server } from '@netlet/contract'
import { IconAlertTriangle, IconArrowLeft } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { parseAsString, useQueryState } from 'nuqs'
import { type ReactNode, useCallback, useEffect, useRef, useState } from 'react'
import { call } from '../../api/client.ts'
import { read } from '../../api/query.ts'
import { fleet } from '../../api/routes.ts'
import { useT } from '../../i18n/admin.ts'
import { failureText } from '../../i18n/failures.ts'
import { gridStyle } from '../../kit/grid-style.ts'
import { useLeaveGuard } from '../../kit/leave-guard.ts'
import { mayLeave } from '../../kit/leaving.ts'
import { numberText } from '../../kit/money.ts'
import { ErrorState } from '../../kit/states.tsx'
import { TrafficPanel } from '../../kit/traffic/traffic-panel.tsx'
import { May, WorkButton } from '../kit/index.ts'
import { AgentSettingsPanel } from './agent-settings.tsx'
import { ConnectedCell, StateCell } from './cells.tsx'
import { HandleForm, type Output, OutputPanel } from './handle-form.tsx'
import { type HandleName, isHandle } from './handles.ts'
import { LivePanel } from './live.tsx'
import { ProxyTlsPanel } from './proxy-tls.tsx'
import classes from './servers.module.css'

type Props = { id: number; onBack: () => void; actions: (server: Server) => ReactNode }

/** What an agent reports, and manual actions on it. Back clears everything. */
export function ManageServer({ id, onBack, actions }: Props) {
  const t = useT()
  const { data: server, error, refetch } = useQuery(read(fleet.server, { params: { id } }))
  const [handle, setHandle] = useQueryState('handle', parseAsString.withDefault('').withOptions({ history: 'push' }))
  const [username, setUsername] = useState('')
  const [output, setOutput] = useState<Output | null>(null)
  const [typed, setTyped] = useState(false)
  // Manage and the list share a path, so the parameter tells them apart.
  const guard = useLeaveGuard(typed, { param: { name: 'detail', value: String(id) } })
  const { info, users, problem, reading, readInfo } = useAgentView(id)
  const back = useRef<HTMLButtonElement>(null)
  // The link that led here is gone with the list.
  useEffect(() => back.current?.focus({ preventScroll: true }), [])
  const choose = (name: HandleName) => void setHandle(name)
  const leave = async () => {
    // Back exists to clear the handle's input, so it does not ask about that alone.
    guard.mark(false)
    if (!(await mayLeave())) return guard.mark(typed)
    void setHandle(null)
    onBack()
  }
  return (
    <div className="stack">
      <div className="row" style={{ gap: '0.5rem 1rem' }}>
        <Button
          ref={back}
          variant="default"
          size="sm"
          leftSection={<IconArrowLeft size={16} aria-hidden />}
          onClick={() => void leave()}
        >
          {t('manage.back')}
        </Button>
        <h2 className="breaks size-lead">{server?.name}</h2>
        {server && (
          <span className="row inline" style={{ gap: '0.5rem 1rem' }}>
            <span>
              <span className="dim">{t('servers.server_status')}:</span> <ConnectedCell server={server} />
            </span>
            <StateCell server={server} />
          </span>
        )}
        <span className="push">{server && actions(server)}</span>
      </div>
      <p role="note" className={`row unwrapped stretch warn size-body ${classes.warning}`} style={{ gap: '0.6rem' }}>
        <IconAlertTriangle size={18} aria-hidden />
        {t('manage.warning')}
      </p>
      {error && !server ? (
        <div className="card">
          <ErrorState error={error} onRetry={() => void refetch()} />
        </div>
      ) : !server ? (
        <Skeleton height={320} />
      ) : (
        <div className={`start ${classes.manage}`} style={gridStyle('26rem', '1rem', 'auto-fit')}>
          <div className="stack">
            <May make={fleet.requestApi}>
              <section className="card stack panel shrinks" style={{ gap: '0.75rem' }} aria-label={t('manage.handle')}>
                <HandleForm
                  server={server}
                  name={isHandle(handle) ? handle : 'create_user_by_prefix'}
                  onName={choose}
                  username={username}
                  onUsername={setUsername}
                  users={users?.length ?? null}
                  onDirty={setTyped}
                  onOutput={setOutput}
                  onChanged={() => void readInfo()}
                />
              </section>
            </May>
            <LivePanel server={server} />
            <OutputPanel output={output} onClear={() => setOutput(null)} />
          </div>
          <div className="stack">
            <section className="card stack panel shrinks" style={{ gap: '0.75rem' }} aria-label={t('manage.info')}>
              <div className="row" style={{ gap: '0.5rem 1rem' }}>
                <h3 className="size-body">{t('manage.info')}</h3>
                <WorkButton
                  className="push"
                  size="compact-sm"
                  variant="default"
                  working={reading}
                  onClick={() => void readInfo()}
                >
                  {t('manage.read')}
                </WorkButton>
              </div>
              {problem ? (
                <p role="alert" className={classes.trouble}>
                  {problem}
                </p>
              ) : info === undefined ? (
                <Skeleton height={120} />
              ) : (
                <pre className={classes.output} tabIndex={0}>
                  {JSON.stringify(info, null, 2)}
                </pre>
              )}
            </section>
            <UserList
              users={users}
              onChoose={name => {
                setUsername(name)
                choose('delete_user')
              }}
            />
          </div>
          <div style={{ gridColumn: '1 / -1' }}>
            <AgentSettingsPanel server={server} />
          </div>
          <div style={{ gridColumn: '1 / -1' }}>
            <ProxyTlsPanel server={server} />
          </div>
          <div style={{ gridColumn: '1 / -1' }}>
            <TrafficPanel query={range => read(fleet.traffic, { params: { id }, query: range })} />
          </div>
        </div>
      )}
    </div>
  )
}

/** The agent's own view, kept only while this screen is open. */
function useAgentView(id: number) {
  const [view, setView] = useState<{ info: unknown; users: AgentUser[] | null } | null>(null)
  const [problem, setProblem] = useState('')
  const [reading, setReading] = useState(false)
  // Counts requests and closing, so that a late answer does not replace a newer one.
  const asked = useRef(0)
  useEffect(
    () => () => {
      asked.current += 1
    },
    []
  )
  const readInfo = useCallback(async () => {
    asked.current += 1
    const mine = asked.current
    const isNewest = () => mine === asked.current
    setReading(true)
    try {
      const { server_info, user_list } = await call(fleet.serverInfo, { params: { id } })
      if (!isNewest()) return
      setView({ info: server_info, users: user_list === null ? null : usersOf(user_list) })
      setProblem('')
    } catch (error) {
      if (isNewest()) setProblem(failureText(error))
    } finally {
      if (isNewest()) setReading(false)
    }
  }, [id])
  useEffect(() => void readInfo(), [readInfo])
  return { info: view?.info, users: view?.users, problem, reading, readInfo }
}

/** Agents of other versions may list users differently. Skip entries without a name. */
const usersOf = (list: unknown): AgentUser[] =>
  (Array.isArray(list) ? (list as unknown[]) : []).flatMap(one => {
    if (typeof one === 'string') return [{ user: one, prefixes: [] }]
    const { user, prefixes } = (one ?? {}) as { user?: unknown; prefixes?: unknown }
    if (typeof user !== 'string') return []
    return [{ user, prefixes: Array.isArray(prefixes) ? prefixes.map(String) : [] }]
  })

type AgentUser = { user: string; prefixes: string[] }

/** Rows shown at once. An agent may have thousands of users. */
const SHOWN = 100

/** `users`: undefined before they are read, null if the role may not see them. */
type UserListProps = { users: AgentUser[] | null | undefined; onChoose: (user: string) => void }

/** The agent's users. A click copies one into the handle's field. */
function UserList({ users, onChoose }: UserListProps) {
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
