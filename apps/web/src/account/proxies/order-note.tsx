import '../../kit/styles/forms.ts'
import type { Order } from '@netlet/contract'
import { NOTE_LENGTH } from '@netlet/contract/limits'
import { Button, Textarea } from '@mantine/core'
import { IconNote } from '@tabler/icons-react'
import { useT } from '../../i18n/proxies.ts'
import classes from './panel.module.css'
import { useOrderWords } from './use-order-words.ts'

export function OrderNote({ order }: { order: Order }) {
  const t = useT()
  const { text, change, open, takesFocus, close, button, form, isSaving } = useOrderWords(order, 'note')
  if (text === null)
    return (
      <div className={`row baseline ${classes.note}`} style={{ gap: '0.25rem 0.5rem' }}>
        {order.note && <p dir="auto">{order.note}</p>}
        <Button
          ref={button}
          variant="subtle"
          color="gray"
          size="compact-sm"
          leftSection={<IconNote size={15} aria-hidden />}
          onClick={open}
        >
          {t(order.note ? 'note.edit' : 'note.add')}
        </Button>
      </div>
    )
  return (
    <form className="stack" style={{ gap: '0.6rem', maxWidth: '40rem' }} {...form}>
      <Textarea
        label={t('note.title')}
        description={t('note.hint', { max: NOTE_LENGTH })}
        maxLength={NOTE_LENGTH}
        rows={3}
        value={text}
        autoFocus={takesFocus}
        onChange={event => change(event.currentTarget.value)}
      />
      <div className="row">
        <Button type="submit" size="sm" loading={isSaving}>
          {t('save')}
        </Button>
        <Button size="sm" variant="subtle" color="gray" onClick={close}>
          {t('cancel')}
        </Button>
      </div>
    </form>
  )
}
