import '../../kit/styles/forms.ts'
import '../../kit/styles/overlays.ts'
import type { GiftCard } from '@netlet/contract'
import { fromCents, toCents } from '@netlet/contract/money'
import { Button, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { IconCards } from '@tabler/icons-react'
import { parseAsBoolean, useQueryState } from 'nuqs'
import { useState } from 'react'
import { call } from '../../api/client.ts'
import { useMay } from '../../api/session.ts'
import { refresh } from '../../api/query.ts'
import { rewards } from '../../api/routes.ts'
import { useT } from '../../i18n/admin.ts'
import { failureText } from '../../i18n/failures.ts'
import { confirm } from '../../kit/confirm.ts'
import { Dialog } from '../../kit/dialog.tsx'
import { useFormFailure } from '../../kit/form-failure.tsx'
import { rules } from '../../kit/form.ts'
import { useLeaveGuard } from '../../kit/leave-guard.ts'
import { money, numberText } from '../../kit/money.ts'
import { notify } from '../../kit/notify.ts'
import { GiftCardsForm } from '../../kit/schemas.ts'
import { useIsShown } from '../../kit/use-is-shown.ts'
import { figures, ofMany, saveFile, stamp, WorkButton } from '../kit/index.ts'

/** Creates several gift cards with generated codes and saves them as CSV. */
export function ManyGiftCards() {
  const t = useT()
  const [opened, setOpened] = useQueryState('many', parseAsBoolean.withDefault(false).withOptions({ history: 'push' }))
  if (!useMay().mayCall(rewards.createGiftCards)) return null
  return (
    <>
      <Button variant="default" leftSection={<IconCards size={16} aria-hidden />} onClick={() => void setOpened(true)}>
        {t('gift-cards.many')}
      </Button>
      {opened && <ManyDialog onClose={() => void setOpened(null)} />}
    </>
  )
}

/** Random, because the codes are derived from it. New for each opening of the dialog. */
const newBatch = () =>
  [...crypto.getRandomValues(new Uint8Array(16))].map(byte => byte.toString(16).padStart(2, '0')).join('')

function ManyDialog({ onClose }: { onClose: () => void }) {
  const t = useT()
  const [batch] = useState(newBatch)
  const [made, setMade] = useState<GiftCard[]>()
  const [saving, setSaving] = useState(false)
  const check = rules(GiftCardsForm)
  const form = useForm({
    mode: 'controlled',
    initialValues: { mount: '', point: '', count: '' },
    validate: values => check({ ...values, batch })
  })
  const failure = useFormFailure(form)
  const isShown = useIsShown()
  const guard = useLeaveGuard(form.isDirty() && !made, { param: { name: 'many', value: 'true' } })
  const leave = () => void guard.mayLeave().then(yes => yes && onClose())
  const save = async ({ mount, point, count }: typeof form.values) => {
    const cards = Number(count)
    const amount = money(mount)
    const question = {
      title: t('gift-cards.manyTitle', { ...figures({ count: cards }), amount }),
      body: t('gift-cards.manyBody', {
        ...figures({ count: cards, point: Number(point) }),
        amount,
        total: money(fromCents(toCents(mount) * BigInt(cards)))
      })
    }
    if (!(await confirm(ofMany(question, cards)))) return
    setSaving(true)
    try {
      const added = await call(rewards.createGiftCards, { body: { mount, point, count, batch } })
      setMade(added)
      guard.release()
      saveFile(`gift_cards_${stamp(new Date())}.csv`, codesAsCsv(added))
      void refresh(rewards.giftCards)
    } catch (error) {
      // The dialog was closed while the call was in flight.
      if (!isShown()) return notify('bad', failureText(error))
      failure.refused(error)
    } finally {
      setSaving(false)
    }
  }
  return (
    <Dialog
      onClose={leave}
      title={t('gift-cards.many')}
      closeOnClickOutside={false}
      attributes={{ header: { role: 'presentation' } }}
    >
      {made ? (
        <div className="stack">
          <p role="status">{t('gift-cards.manyDone', { count: numberText(made.length) })}</p>
          <div className="row to-end">
            <Button autoFocus onClick={() => saveFile(`gift_cards_${stamp(new Date())}.csv`, codesAsCsv(made))}>
              {t('gift-cards.manyCsv')}
            </Button>
            <Button variant="default" onClick={onClose}>
              {t('list.close')}
            </Button>
          </div>
        </div>
      ) : (
        <form
          className="stack"
          noValidate
          onChange={failure.onChange}
          onSubmit={form.onSubmit(
            values => void save(values),
            errors => failure.invalid(errors)
          )}
        >
          <p className="dim">{t('gift-cards.manyHint')}</p>
          <TextInput
            label={t('gift-cards.count')}
            inputMode="numeric"
            autoComplete="off"
            withAsterisk
            data-autofocus
            {...form.getInputProps('count')}
          />
          <TextInput
            label={t('gift-cards.mount')}
            inputMode="decimal"
            autoComplete="off"
            leftSection="$"
            withAsterisk
            {...form.getInputProps('mount')}
          />
          <TextInput
            label={t('gift-cards.point')}
            inputMode="numeric"
            autoComplete="off"
            withAsterisk
            {...form.getInputProps('point')}
          />
          {failure.alert}
          <div className="row to-end">
            <Button variant="default" onClick={leave}>
              {t('form.cancel')}
            </Button>
            <WorkButton type="submit" working={saving}>
              {t('form.add')}
            </WorkButton>
          </div>
        </form>
      )}
    </Dialog>
  )
}

/** Amounts, numbers and codes only, so no value can be a spreadsheet formula. */
const codesAsCsv = (cards: readonly GiftCard[]): Blob => {
  const lines = cards.map(({ id, mount, point, code }) => [id, mount, point, code].join(','))
  return new Blob([['id,mount,point,code', ...lines, ''].join('\r\n')], { type: 'text/csv;charset=utf-8' })
}
