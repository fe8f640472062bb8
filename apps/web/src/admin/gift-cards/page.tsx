import type { GiftCard } from '@netlet/contract'
import { IconCloudSearch, IconCloudUpload, IconTrash } from '@tabler/icons-react'
import { rewards } from '../../api/routes.ts'
import { GiftCardForm } from '../../kit/schemas.ts'
import {
  code,
  date,
  defineResource,
  deletion,
  integer,
  integerField,
  money,
  moneyField,
  textField,
  yesNo,
  yesNoFilter
} from '../kit/index.ts'
import { ManyGiftCards } from './many-gift-cards.tsx'
import { platformColumn, platformFilter } from '../platform-codes/on-platform.tsx'

/** Gift cards: created with their code, then handed out for coins to a customer. */
export default defineResource({
  key: 'gift-cards',
  list: rewards.giftCards,
  nameOf: card => card.code,
  address: ['many'],
  toolbar: ManyGiftCards,
  columns: [
    integer('id'),
    money('mount', { prefix: '$' }),
    integer('point'),
    code('code', { lead: true }),
    yesNo('is_exchanged'),
    platformColumn({ kind: 'gift_card', list: rewards.giftCards }, (card: GiftCard) => card.is_exchanged),
    date('created_at', { optional: true })
  ],
  sort: ['id', 'mount', 'point'],
  filters: [yesNoFilter('is_exchanged'), platformFilter],
  form: {
    schema: GiftCardForm,
    fields: [moneyField('mount'), textField('code', { mono: true }), integerField('point')],
    create: rewards.createGiftCard,
    update: rewards.updateGiftCard,
    undo: true,
    whyNotEdit: card => (card.is_exchanged ? 'whyNot.exchanged' : undefined)
  },
  remove: {
    route: rewards.deleteGiftCard,
    whyNot: card => (card.is_exchanged ? 'whyNot.exchanged' : undefined),
    confirm: (t, { code, mount, point }) => ({
      title: t('list.deleteTitle'),
      body: [t('list.deleteBody'), t('gift-cards.removal', { code, mount, point })].join('\n'),
      danger: true
    })
  },
  batch: [
    { name: 'gift_card.check', icon: IconCloudSearch },
    { name: 'gift_card.create_there', icon: IconCloudUpload },
    { name: 'gift_card.delete', icon: IconTrash, danger: true, confirm: deletion, planned: true }
  ],
  csv: true
})
