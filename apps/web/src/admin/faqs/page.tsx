import type { Faq } from '@netlet/contract'
import { support } from '../../api/routes.ts'
import { FaqForm } from '../../kit/schemas.ts'
import { column, defineResource, inChinese, integer, areaField } from '../kit/index.ts'
import classes from './faqs.module.css'

const question = areaField('question', { rows: 2 })
const answer = areaField('answer', { rows: 10 })

export default defineResource({
  key: 'faqs',
  list: support.faqs,
  nameOf: row => row.question,
  columns: [
    integer('id', { optional: true }),
    column('question', (row: Faq) => <span className={classes.text}>{row.question}</span>, { lead: true }),
    column('answer', (row: Faq) => <span className={classes.text}>{row.answer}</span>, { wide: true })
  ],
  sort: ['id'],
  form: {
    schema: FaqForm,
    fields: [question, answer, inChinese('question', question), inChinese('answer', answer)],
    create: support.createFaq,
    update: support.updateFaq,
    undo: true
  },
  remove: {
    route: support.deleteFaq,
    confirm: (t, { question }) => ({
      title: t('list.deleteTitle'),
      body: [t('list.deleteBody'), question, t('faqs.removal')].join('\n'),
      danger: true
    }),
    undo: row => ({ route: support.restoreFaq, input: { params: { id: row.id } } })
  },
  csv: true
})
