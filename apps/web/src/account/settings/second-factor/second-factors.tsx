import type { Confirmation, CurrentUser, SecondFactor, SecondFactorKind, SecondFactors as Data } from '@netlet/contract'
import { Button, Skeleton, TextInput } from '@mantine/core'
import { IconDeviceMobile, IconKey } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useState } from 'react'
import { call } from '../../../api/client.ts'
import { read, refresh } from '../../../api/query.ts'
import { secondFactor } from '../../../api/routes.ts'
import { reloadSession } from '../../../api/session.ts'
import { useT } from '../../../i18n/account.ts'
import { Dialog } from '../../../kit/dialog.tsx'
import { notify } from '../../../kit/notify.ts'
import { hasPasskeys } from '../../../kit/passkeys.ts'
import { ErrorState } from '../../../kit/states.tsx'
import { Ago, Day } from '../../../kit/time.tsx'
import classes from '../api-keys.module.css'
import { ConfirmForm } from '../confirm-form.tsx'
import { RecoveryCodes } from './recovery-codes.tsx'

const EnrolDialog = lazy(() => import('./enrol-dialog.tsx'))

type Open = { add: SecondFactorKind } | { rename: SecondFactor } | { remove: SecondFactor } | 'codes' | null

/** The account's second factors: add, rename, remove, and new recovery codes. */
export function SecondFactors({ user }: { user: CurrentUser }) {
  const t = useT()
  const [open, setOpen] = useState<Open>(null)
  const close = () => setOpen(null)
  const { data, isPending, error, refetch } = useQuery(read(secondFactor.secondFactors))
  if (error && !data) return <ErrorState error={error} onRetry={() => void refetch()} />
  if (isPending) return <Skeleton height={120} />
  const hasApp = data.factors.some(({ method }) => method === 'totp')
  return (
    <>
      <p className="dim">{t('factors.hint')}</p>
      <Due user={user} />
      {data.factors.length > 0 ? (
        <ul className={classes.list} aria-label={t('factors.list')}>
          {data.factors.map(factor => (
            <Factor
              key={factor.id}
              factor={factor}
              // An operator keeps the last one.
              canRemove={!data.required || data.factors.length > 1}
              onRename={() => setOpen({ rename: factor })}
              onRemove={() => setOpen({ remove: factor })}
            />
          ))}
        </ul>
      ) : (
        <p>{t('factors.none')}</p>
      )}
      <div className="row">
        <Button
          variant="default"
          leftSection={<IconDeviceMobile size={18} aria-hidden />}
          onClick={() => setOpen({ add: 'totp' })}
        >
          {t(hasApp ? 'factors.replaceTotp' : 'factors.addTotp')}
        </Button>
        {data.passkeys && hasPasskeys() && (
          <Button
            variant="default"
            leftSection={<IconKey size={18} aria-hidden />}
            onClick={() => setOpen({ add: 'passkey' })}
          >
            {t('factors.addPasskey')}
          </Button>
        )}
      </div>
      {!data.passkeys && <p className="dim">{t('factors.noPasskeys')}</p>}
      {data.factors.length > 0 && <CodesLeft left={data.recovery_codes_left} onRenew={() => setOpen('codes')} />}
      <Opened open={open} data={data} hasApp={hasApp} onClose={close} />
    </>
  )
}

/** Codes that an account gets at once. */
const ALL_CODES = 10

function CodesLeft({ left, onRenew }: { left: number; onRenew: () => void }) {
  const t = useT()
  return (
    <div className="row">
      <p className="dim">{t('factors.codesLeft', { count: left, all: ALL_CODES })}</p>
      <Button size="xs" variant="default" onClick={onRenew}>
        {t('factors.codesNew')}
      </Button>
    </div>
  )
}

/** Tells operators by when they need one. */
function Due({ user }: { user: CurrentUser }) {
  const t = useT()
  if (user.must_add_second_factor)
    return (
      <p role="alert" className="problem">
        {t('factors.required')}
      </p>
    )
  if (!user.second_factor_due) return null
  return (
    <p>
      <Day at={user.second_factor_due}>{day => t('factors.due', { day })}</Day>
    </p>
  )
}

type FactorProps = { factor: SecondFactor; canRemove: boolean; onRename: () => void; onRemove: () => void }

function Factor({ factor, canRemove, onRename, onRemove }: FactorProps) {
  const t = useT()
  return (
    <li>
      <div className={classes.facts}>
        <strong>{factor.name}</strong>
        <span>{t(`factors.kind.${factor.method}`)}</span>
        <span>
          {t('factors.made')} <Day at={factor.created_at} /> · {t('factors.used')}{' '}
          {factor.last_used_at ? <Ago at={factor.last_used_at} /> : t('factors.never')}
        </span>
      </div>
      <div className="row push">
        <Button size="xs" variant="default" aria-label={`${t('factors.rename')}: ${factor.name}`} onClick={onRename}>
          {t('factors.rename')}
        </Button>
        {canRemove && (
          <Button size="xs" variant="default" aria-label={`${t('factors.remove')}: ${factor.name}`} onClick={onRemove}>
            {t('factors.remove')}
          </Button>
        )}
      </div>
    </li>
  )
}

type OpenedProps = { open: Open; data: Data; hasApp: boolean; onClose: () => void }

function Opened({ open, data, hasApp, onClose }: OpenedProps) {
  if (open === null) return null
  if (open === 'codes') return <CodesDialog onClose={onClose} />
  if ('rename' in open) return <RenameDialog factor={open.rename} onClose={onClose} />
  if ('remove' in open)
    return <RemoveDialog factor={open.remove} isLast={data.factors.length === 1} onClose={onClose} />
  return (
    <Suspense fallback={null}>
      <EnrolDialog method={open.add} replaces={hasApp} onClose={onClose} />
    </Suspense>
  )
}

function RenameDialog({ factor, onClose }: { factor: SecondFactor; onClose: () => void }) {
  const t = useT()
  const [name, setName] = useState(factor.name)
  const rename = async (confirmation: Confirmation) => {
    await call(secondFactor.renameSecondFactor, { body: { id: factor.id, name, ...confirmation } })
    await refresh(secondFactor.secondFactors)
    onClose()
  }
  return (
    <Dialog title={t('factors.renameTitle', { name: factor.name })} onClose={onClose}>
      <ConfirmForm label={t('factors.save')} onConfirm={rename} onCancel={onClose}>
        <TextInput
          label={t('factors.name')}
          maxLength={64}
          autoComplete="off"
          data-autofocus
          value={name}
          onChange={event => setName(event.currentTarget.value)}
        />
      </ConfirmForm>
    </Dialog>
  )
}

function RemoveDialog({ factor, isLast, onClose }: { factor: SecondFactor; isLast: boolean; onClose: () => void }) {
  const t = useT()
  const { name } = factor
  const remove = async (confirmation: Confirmation) => {
    await call(secondFactor.removeSecondFactor, { body: { id: factor.id, ...confirmation } })
    notify('good', t('factors.removed', { name }))
    await Promise.all([refresh(secondFactor.secondFactors), reloadSession()])
    onClose()
  }
  return (
    <Dialog title={t('factors.removeTitle', { name })} onClose={onClose}>
      <div className="stack">
        <p>{t(isLast ? 'factors.removeLast' : 'factors.removeBody')}</p>
        <ConfirmForm danger label={t('factors.remove')} onConfirm={remove} onCancel={onClose} />
      </div>
    </Dialog>
  )
}

function CodesDialog({ onClose }: { onClose: () => void }) {
  const t = useT()
  const [codes, setCodes] = useState<string[] | null>(null)
  const renew = async (confirmation: Confirmation) => {
    const made = await call(secondFactor.newRecoveryCodes, { body: confirmation })
    setCodes(made.recovery_codes)
    await refresh(secondFactor.secondFactors)
  }
  return (
    <Dialog title={t('factors.codes')} closeOnClickOutside={!codes} onClose={onClose}>
      {codes ? (
        <RecoveryCodes codes={codes} onDone={onClose} />
      ) : (
        <div className="stack">
          <p>{t('factors.codesNewBody')}</p>
          <ConfirmForm label={t('factors.codesNew')} onConfirm={renew} onCancel={onClose} />
        </div>
      )}
    </Dialog>
  )
}
