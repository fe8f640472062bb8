import { Button, Checkbox, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { TOKEN_DAYS } from '@netlet/contract/limits'
import { TOKEN_PERMISSIONS, type TokenPermission } from '@netlet/contract/permissions'
import { useState } from 'react'
import { call } from '../../api/client.ts'
import { refresh } from '../../api/query.ts'
import { accounts, documentation } from '../../api/routes.ts'
import { useMay } from '../../api/session.ts'
import { useMutation } from '../../api/use-mutation.ts'
import { useT } from '../../i18n/account.ts'
import { useT as useConsoleT } from '../../i18n/admin.ts'
import { Dialog } from '../../kit/dialog.tsx'
import { useFormFailure } from '../../kit/form-failure.tsx'
import { rules } from '../../kit/form.ts'
import { gridStyle } from '../../kit/grid-style.ts'
import { ApiTokenForm as ApiTokenRules } from '../../kit/schemas.ts'
import { ShownOnce } from '../../kit/shown-once.tsx'
import classes from './api-keys.module.css'
import { daysOf, KeyLife, KeyList } from './key-list.tsx'

/** API tokens of an operator: create, show once, permissions, last use, revoke. */
export default function ApiTokens() {
  const t = useT()
  const [made, setMade] = useState<string | null>(null)
  const [opened, setOpened] = useState(false)
  return (
    <>
      <p className="dim">
        {t('tokens.hint')} <a href={documentation.page.path}>{t('keys.docs')}</a>
      </p>
      {made ? (
        <ShownOnce words={t('tokens.once')} text={made} name={t('tokens.one')} onDone={() => setMade(null)} />
      ) : (
        <Button variant="default" onClick={() => setOpened(true)}>
          {t('tokens.create')}
        </Button>
      )}
      <KeyList
        label={t('tokens.title')}
        none={t('tokens.none')}
        rights={({ permissions, scopes }) => <Rights permissions={permissions ?? []} scopes={scopes} />}
      />
      <Dialog size="lg" title={t('tokens.create')} opened={opened} onClose={() => setOpened(false)}>
        <TokenForm
          onMade={key => {
            setOpened(false)
            setMade(key)
            void refresh(accounts.apiKeys)
          }}
          onCancel={() => setOpened(false)}
        />
      </Dialog>
    </>
  )
}

/** The names of a few permissions; of more the number, with the names behind it. */
function Rights({ permissions, scopes }: { permissions: TokenPermission[]; scopes: string[] }) {
  const t = useT()
  const word = useConsoleT()
  const names = [...permissions.map(permission => word(`operators.may.${permission}`)), ...scopes]
  if (names.length <= 2) return <span>{names.join(' · ')}</span>
  return (
    <details>
      <summary>{t('tokens.rights', { count: names.length })}</summary>
      <ul>
        {names.map(name => (
          <li key={name}>
            <span>{name}</span>
          </li>
        ))}
      </ul>
    </details>
  )
}

/** 'orders' of 'orders.view'. */
const thingOf = (permission: TokenPermission): string => permission.split('.')[0] ?? ''

type Values = { name: string; permissions: TokenPermission[]; life: string }
const bodyOf = ({ name, permissions, life }: Values) => ({ name, permissions, days: daysOf(life) ?? TOKEN_DAYS })

function TokenForm({ onMade, onCancel }: { onMade: (key: string) => void; onCancel: () => void }) {
  const t = useT()
  const word = useConsoleT()
  const { may } = useMay()
  const form = useForm<Values>({
    name: 'api-token',
    initialValues: { name: '', permissions: [], life: String(TOKEN_DAYS) },
    validate: values => rules(ApiTokenRules)(bodyOf(values))
  })
  const failure = useFormFailure(form)
  const create = useMutation({
    mutationFn: (values: Values) => call(accounts.createApiToken, { body: bodyOf(values) }),
    onSuccess: ({ key }) => onMade(key),
    onError: failure.refused
  })
  return (
    <form
      className="stack"
      noValidate
      onChange={failure.onChange}
      onSubmit={form.onSubmit(
        values => create.mutate(values),
        errors => failure.invalid(errors)
      )}
    >
      <div style={gridStyle('14rem', '1rem', 'auto-fit')}>
        <TextInput
          label={t('keys.name')}
          description={t('tokens.nameHint')}
          maxLength={64}
          autoComplete="off"
          data-autofocus
          {...form.getInputProps('name')}
        />
        <KeyLife description={t('tokens.endsHint')} {...form.getInputProps('life')} />
      </div>
      <Checkbox.Group
        label={t('keys.scopes')}
        description={t('tokens.rightsHint')}
        {...form.getInputProps('permissions')}
      >
        {/* A row for each thing, so that what is seen and what is changed of it stand side by side. */}
        {Object.entries(Object.groupBy(TOKEN_PERMISSIONS.filter(may), thingOf)).map(([thing, permissions = []]) => (
          <div key={thing} className={classes.rights}>
            {permissions.map(permission => (
              <Checkbox key={permission} value={permission} label={word(`operators.may.${permission}`)} />
            ))}
          </div>
        ))}
      </Checkbox.Group>
      {failure.alert}
      <div className="row">
        <Button type="submit" loading={create.isPending}>
          {t('tokens.create')}
        </Button>
        <Button variant="default" onClick={onCancel}>
          {t('settings.cancel')}
        </Button>
      </div>
    </form>
  )
}
