import type { Server } from '@netlet/contract'
import { Button, Skeleton } from '@mantine/core'
import { IconAlertTriangle, IconArrowLeft } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { parseAsString, useQueryState } from 'nuqs'
import { useCallback, useEffect, useRef, useState, type ReactNode } from 'react'
import { call } from '../../api/client.ts'
import { read } from '../../api/query.ts'
import { fleet } from '../../api/routes.ts'
import { useT } from '../../i18n/admin.ts'
import { failureText } from '../../i18n/failures.ts'
import { useLeaveGuard } from '../../kit/leave-guard.ts'
import { mayLeave } from '../../kit/leaving.ts'
import { ErrorState } from '../../kit/states.tsx'
import { TrafficPanel } from '../../kit/traffic/traffic-panel.tsx'
import { AgentSettingsPanel } from './agent-settings.tsx'
import { HandleForm } from './handle-form.tsx'
import { isHandle, type HandleName } from './handles.ts'
import { LivePanel } from './live.tsx'
import { OutputPanel, type Output } from './output.tsx'
import { ConnectedCell, StateCell } from './cells.tsx'
import { May, WorkButton } from '../kit/index.ts'
import classes from './servers.module.css'
import { ProxyTlsPanel } from './proxy-tls.tsx'
import { UserList, type AgentUser } from './user-list.tsx'
import { gridStyle } from '../../kit/grid-style.ts'

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
