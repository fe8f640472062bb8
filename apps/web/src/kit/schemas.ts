// First: it must run before any schema is built.
import { config } from 'zod'

// The content security policy forbids eval, which the validation library would otherwise try.
config({ jitless: true })

/**
 * The contract's form rules. They need the validation library, so only pages with a form import them. Everything else
 * comes from the contract's parts without schemas, which would otherwise be built too early.
 */
export {
  AclGroupForm,
  AclRuleForm,
  AgentCallForm,
  AdminPasswordBody,
  ApiKeyForm,
  ApiTokenForm,
  ApplyPaymentForm,
  ChangePasswordBody,
  CheckIpv6Form,
  CollectionForm,
  CidrForm,
  ConfirmBody,
  CouponForm,
  CreditForm,
  CreateProxyUserForm,
  DeleteProxyUserForm,
  EmailChangeBody,
  EmailChangeCodeBody,
  ExtendForm,
  FaqForm,
  ForgotBody,
  ForgotVerifyBody,
  GiftCardForm,
  GiftCardsForm,
  IncidentForm,
  IncidentUpdateForm,
  LevelCodeForm,
  LoginBody,
  OutageForm,
  OutageIncidentForm,
  MAX_COINS,
  MoveOrderForm,
  MoveOrdersForm,
  OperatorWebhookForm,
  MuteNoticeForm,
  NoticeChannelForm,
  PaymentNoteForm,
  ProductForm,
  ProductUpdate,
  RefundForm,
  ResetProxiesForm,
  SecondFactorConfirmForm,
  ServerForm,
  ServerGroupForm,
  SignUpBody,
  SubscribeForm,
  SavedReplyForm,
  TagForm,
  TicketForm,
  VariantForm,
  UserForm,
  WebhookForm,
  SECRET_KEPT,
  SettingsForm,
  TicketAnswerForm,
  TicketMessageForm,
  TicketNoteForm
} from '@netlet/contract'
