import type { OperatorRole, User } from '@netlet/contract'
import { FIRST_ROLE, OPERATOR_ROLES } from '@netlet/contract/permissions'
import { ActionIcon, Button, Loader, NativeSelect, Switch, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { type ReactNode, useEffect, useId, useRef, useState } from 'react'
import { ApiError, call } from '../../api/client.ts'
import { useMay } from '../../api/session.ts'
import { accounts } from '../../api/routes.ts'
import { type Key, useT } from '../../i18n/admin.ts'
import { failureText, fieldTexts } from '../../i18n/failures.ts'
import { confirm } from '../../kit/confirm.ts'
import { formMessage, rules } from '../../kit/form.ts'
import { merge, type Clash, type Path, type Taken } from '../../kit/merge.ts'
import { notify } from '../../kit/notify.ts'
import { numberText } from '../../kit/money.ts'
import { useFormDraft } from '../../kit/draft.ts'
import { MAX_COINS, UserForm as Schema } from '../../kit/schemas.ts'
import { Day } from '../../kit/time.tsx'
import { FactList, FormAlert, type T, type Undo, WorkButton, figures, useCommand } from '../kit/index.ts'
import { Address, Country, LastLogin, StatusBadge } from './cells.tsx'
import { PasswordReset, useNewPassword } from './password-reset.tsx'
import classes from './users.module.css'
import { IconBrandDiscord, IconUnlink } from '@tabler/icons-react'
import { gridStyle } from '../../kit/grid-style.ts'

/** The platform's profile page, by the name before any '#'. */
const profileOf = (name: string) => `https://discord.com/users/${encodeURIComponent(name.split('#')[0] ?? '')}`

/** The bound chat account with its profile. Unbinding applies at once, without Save. */
function ChatAccount({ user }: { user: User }) {
  const t = useT()
  const [name, setName] = useState(user.discord_name)
  const unbind = useCommand(accounts.unbindUserDiscord, {
    confirm: {
      title: t('users.unbindTitle'),
      body: t('users.unbindBody', { user: user.username, name: name ?? '' }),
      danger: true
    },
    invalidate: [accounts.users, accounts.user]
  })
  const takeOff = async () => {
    if (await unbind.run({ params: { id: user.id } })) setName(null)
  }
  return (
    <div>
      <p className="size-body" style={{ fontWeight: 500 }}>
        {t('users.chat')}
      </p>
      {name ? (
        <div className="row unwrapped" style={{ gap: '0.25rem' }}>
          <Button
            component="a"
            href={profileOf(name)}
            target="_blank"
            rel="noreferrer noopener"
            variant="default"
            leftSection={<IconBrandDiscord size={18} aria-hidden />}
          >
            {name}
          </Button>
          <ActionIcon
            variant="subtle"
            color="gray"
            size="lg"
            aria-busy={unbind.running}
            title={t('users.unbind')}
            aria-label={t('users.unbind')}
            onClick={() => void takeOff()}
          >
            {unbind.running ? <Loader size={16} color="gray" aria-hidden /> : <IconUnlink size={18} aria-hidden />}
          </ActionIcon>
        </div>
      ) : (
        <p className="dim">{t('users.noChat')}</p>
      )}
    </div>
  )
}

type Values = { email: string; is_superuser: boolean; operator_role: OperatorRole; change: string }
type Props = {
  user: User
  /** Whether the form is still open, for use after a call. */
  isOpen: () => boolean
  onDirty: (dirty: boolean) => void
  /** Whether a password is entered. Drafts do not keep it. */
  onSecret: (entered: boolean) => void
  isUnsaved: () => boolean
  onCancel: () => void
  onSaved: (undo?: Undo) => void
}

/** What a version covers besides the form's values. */
const SHOWN = ['username', 'is_active', 'reward_points', 'level_points'] as const satisfies readonly (keyof User)[]

const valuesOf = ({ email, is_superuser, operator_role }: User): Values => ({
  email,
  is_superuser,
  operator_role: operator_role ?? FIRST_ROLE,
  change: '0'
})
/** Values for comparison: only administrators have a role. */
const comparedOf = (values: Values) => ({ ...values, operator_role: rightsOf(values) ?? ('' as const) })
const check = rules(Schema)
/** Fields that can have an error, in order. */
const FOCUSED = ['email', 'change'] as const

/** A typed change: '+50', '-20'. */
const amountOf = (text: string): number => (/^[+-]?\d{1,9}$/.test(text.trim()) ? Number(text) : Number.NaN)

const rightsOf = ({ is_superuser, operator_role }: Pick<User, 'is_superuser' | 'operator_role'>): OperatorRole | null =>
  is_superuser ? (operator_role ?? FIRST_ROLE) : null

/** The question before rights or the address change, with what that ends. A change of coins alone needs none. */
async function changeQuestion(t: T, user: User, sent: { email: string; rights: OperatorRole | null }) {
  const { id, username, email: former } = user
  const changesRights = sent.rights !== rightsOf(user)
  if (!changesRights && sent.email === former) return undefined
  const { sessions, api_keys: keys } = await call(accounts.user, { params: { id } })
  const body = [
    ...(changesRights
      ? [
          sent.rights
            ? t('users.givesRole', {
                user: username,
                role: t(`operators.role.${sent.rights}`),
                may: t(`operators.help.${sent.rights}`)
              })
            : t('users.takesRole', { user: username }),
          t('users.changeRights', figures({ sessions, keys }))
        ]
      : []),
    ...(sent.email === former ? [] : [t('users.changeEmail', { email: sent.email, former })])
  ]
  return { title: t('users.changeTitle', { user: username }), body: body.join('\n'), danger: true }
}

/** Reverts a change of coins, unless the user owed some of them or other fields changed too. */
function undoOf(before: User, after: User, { email, change, ...rights }: Values): Undo | undefined {
  const by = amountOf(change)
  const onlyCoins = email === before.email && rightsOf(rights) === rightsOf(before)
  if (by === 0 || !onlyCoins || after.reward_points !== before.reward_points + by) return undefined
  const body = { reward_points_change: -by, version: after.version }
  return { route: accounts.updateUser, input: { params: { id: after.id }, body } }
}

/** The Edit dialog's cards. Coins change by an amount, so that coins spent in the meantime stay spent. */
export function UserForm({ user, isOpen, onDirty, onSecret, isUnsaved, onCancel, onSaved }: Props) {
  const t = useT()
  // Roles that may not manage operators see the rights but cannot change them.
  const owner = useMay().may('operators.change')
  const base = useRef(user)
  const [failure, setFailure] = useState('')
  const [taken, setTaken] = useState<Taken[]>([])
  const [clashes, setClashes] = useState<Clash[]>([])
  const [saving, setSaving] = useState(false)
  const focusFirst = (errors: object) => {
    const first = FOCUSED.find(name => name in errors)
    if (first) form.getInputNode(first)?.focus()
  }
  const form = useForm<Values>({
    mode: 'controlled',
    initialValues: valuesOf(user),
    validate: ({ email, is_superuser, change }) => {
      const balance = base.current.reward_points + amountOf(change)
      return {
        ...check({ email, is_superuser }),
        ...(balance >= 0 && balance <= MAX_COINS ? {} : { change: formMessage('enter_points') })
      }
    }
  })
  useFormDraft(`user-${user.id}`, form, { version: base.current.version, isUnsaved })
  const password = useNewPassword()
  const hasSecret = password.value !== ''
  const dirty = form.isDirty() || hasSecret
  useEffect(() => onDirty(dirty), [dirty, onDirty])
  useEffect(() => onSecret(hasSecret), [hasSecret, onSecret])
  const { reward_points } = base.current
  const after = reward_points + amountOf(form.values.change)

  /** Merges what another user saved with what is entered here. */
  const mergeSaved = (current: User) => {
    const before = base.current
    const theirs = valuesOf(current)
    const merged = merge(comparedOf(valuesOf(before)), comparedOf(form.getValues()), comparedOf(theirs))
    base.current = current
    form.setInitialValues(theirs)
    form.setValues({ ...merged.values, operator_role: merged.values.operator_role || FIRST_ROLE })
    setClashes(merged.clashes)
    const shown = SHOWN.filter(name => before[name] !== current[name])
    setTaken([...merged.taken, ...shown.map(name => ({ path: [name], was: before[name], is: current[name] }))])
  }
  const told = ([name]: Path, value: unknown) =>
    name === 'operator_role' && value !== ''
      ? t(`operators.role.${value as OperatorRole}`)
      : typeof value === 'boolean'
        ? t(value ? 'list.yes' : 'list.no')
        : typeof value === 'number'
          ? numberText(value)
          : String(value)

  const save = async (values: Values) => {
    const { email, is_superuser, operator_role, change } = values
    // Save does not set the password, and closes the form.
    if (password.value !== '') return password.refuse(t('users.passwordUnsent'))
    setSaving(true)
    setFailure('')
    setTaken([])
    setClashes([])
    try {
      const question = await changeQuestion(t, base.current, {
        email,
        rights: rightsOf({ is_superuser, operator_role })
      })
      // If the form was closed in the meantime, do not save.
      if (!isOpen() || (question && !(await confirm(question)))) return
      const saved = await call(accounts.updateUser, {
        params: { id: user.id },
        body: {
          email,
          is_superuser,
          ...(is_superuser && { operator_role }),
          reward_points_change: amountOf(change),
          version: base.current.version
        }
      })
      onSaved(undoOf(base.current, saved, { email, is_superuser, operator_role, change }))
    } catch (error) {
      if (!isOpen()) return notify('bad', failureText(error))
      const { email: wrongEmail, reward_points_change: wrongChange } = fieldTexts(error)
      const wrong = { ...(wrongEmail && { email: wrongEmail }), ...(wrongChange && { change: wrongChange }) }
      if (error instanceof ApiError && error.refusal.current) mergeSaved(error.refusal.current as User)
      form.setErrors(wrong)
      focusFirst(wrong)
      if (!wrongEmail && !wrongChange) setFailure(failureText(error))
    } finally {
      setSaving(false)
    }
  }
  return (
    <form className="stack" noValidate onSubmit={form.onSubmit(values => void save(values), focusFirst)}>
      <FormAlert
        failure={failure}
        taken={taken}
        clashes={clashes}
        labelOf={([name]) => t(`users.${name}` as Key)}
        told={told}
        onTake={clash => {
          form.setFieldValue(clash.path.join(), clash.theirs === '' ? FIRST_ROLE : clash.theirs)
          setClashes(clashes.filter(one => one !== clash))
        }}
      />
      <Card title={t('users.information')}>
        <FactList
          facts={[
            [t('users.username'), user.username],
            [t('users.created_at'), <Day at={user.created_at} />],
            [t('users.status'), <StatusBadge user={user} />],
            [t('users.level'), user.level],
            [t('users.invite_count'), numberText(user.invite_count)]
          ]}
        />
      </Card>
      <Card title={t('users.account')}>
        <div style={gridStyle('16rem', '0.9rem 1.25rem')}>
          <TextInput
            label={t('users.email')}
            type="email"
            autoComplete="off"
            withAsterisk
            data-autofocus
            {...form.getInputProps('email')}
          />
          <ChatAccount user={user} />
          <TextInput
            label={t('users.reward_points')}
            inputMode="text"
            autoComplete="off"
            withAsterisk
            description={t('users.coinsHelp', { now: numberText(reward_points) })}
            rightSection={Number.isNaN(after) ? undefined : <span className="num">{`= ${numberText(after)}`}</span>}
            rightSectionWidth="auto"
            classNames={{ section: classes.sum }}
            {...form.getInputProps('change')}
          />
          {owner && (
            <Switch
              label={t('users.is_superuser')}
              // The label element also contains the description.
              aria-label={t('users.is_superuser')}
              description={t('users.adminHelp')}
              {...form.getInputProps('is_superuser', { type: 'checkbox' })}
            />
          )}
          {owner && form.values.is_superuser && (
            <NativeSelect
              label={t('users.operator_role')}
              description={t(`operators.help.${form.values.operator_role}`)}
              data={OPERATOR_ROLES.map(value => ({ value, label: t(`operators.role.${value}`) }))}
              {...form.getInputProps('operator_role')}
            />
          )}
          {!owner && (
            <FactList
              facts={[
                [t('users.is_superuser'), user.operator_role ? t(`operators.role.${user.operator_role}`) : t('list.no')]
              ]}
            />
          )}
        </div>
        <PasswordReset user={user} password={password} />
      </Card>
      <Card title={t('users.additional')}>
        <FactList
          facts={[
            [t('users.last_login'), <LastLogin at={user.last_login_time} />],
            [t('users.last_login_ip'), <Address ip={user.last_login_ip} country={user.last_location} />],
            [t('users.location'), <Country country={user.last_location} />]
          ]}
        />
      </Card>
      <div className="row to-end" style={{ gap: '0.6rem' }}>
        <Button variant="default" onClick={onCancel}>
          {t('form.cancel')}
        </Button>
        <WorkButton type="submit" working={saving}>
          {t('form.save')}
        </WorkButton>
      </div>
    </form>
  )
}

function Card({ title, children }: { title: string; children: ReactNode }) {
  const id = useId()
  return (
    <section className={`stack ${classes.card}`} style={{ gap: '0.8rem' }} aria-labelledby={id}>
      <h3 id={id}>{title}</h3>
      {children}
    </section>
  )
}
